"""Train the bundled encoder anew, and measure what an encoder of the sample knows of garments.

    python -m benchmarks.training encoder --out FOLDER [--from ENCODER]
    python -m benchmarks.training known FOLDER --out FILE [--encoder ENCODER]
    python -m benchmarks.training reader FOLDER --out FILE [--encoder ENCODER]
    python -m benchmarks.training intents --out FILE [--measure]

Training takes hours on two cores and resumes where it stopped; the others take minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="what", required=True)
    encoder = commands.add_parser("encoder", help="train the bundled encoder")
    encoder.add_argument("--out", type=Path, required=True, help="output folder of the model")
    encoder.add_argument("--cache", type=Path, default=Path(".make/training"), help="drawn images and state")
    encoder.add_argument("--epochs", type=int, help="36; 8 with --from")
    encoder.add_argument("--seed", type=int, default=7)
    encoder.add_argument("--threads", type=int, default=2)
    encoder.add_argument("--from", dest="start", type=Path, help="continue from the encoder in this folder: the image "
                         "tower for --epochs, then the last stage")
    known = commands.add_parser("known", help="measure how an encoder sees garments, so that other pictures are "
                                "recognised; the bundled encoder's is cir_core/garments/known.safetensors")
    known.add_argument("folder", type=Path, help="where the garments are drawn")
    known.add_argument("--out", type=Path, required=True, help="output file")
    known.add_argument("--encoder", default="atelier", help="the encoder that was trained")
    reader = commands.add_parser("reader", help="train what reads an encoder's vectors of garments; the bundled "
                                 "encoder's is cir_core/garments/reader.safetensors")
    reader.add_argument("folder", type=Path, help="where the garments are drawn")
    reader.add_argument("--out", type=Path, required=True, help="output file")
    reader.add_argument("--encoder", default="atelier", help="the encoder that was trained")
    intents = commands.add_parser("intents", help="train what reads acts and attitudes in requests: "
                                  "cir_core/language/intents.safetensors")
    intents.add_argument("--out", type=Path, required=True, help="output file")
    intents.add_argument("--measure", action="store_true", help="also read the texts of each "
                         "writer without training on them")
    options = parser.parse_args(arguments)
    if options.what == "intents":
        from benchmarks.training.intents import by_writer, train
        from cir_core.language.intents import save

        save(train(), options.out)
        for share in by_writer() if options.measure else ():
            print(f"{share.name}, {share.label}: {share.count:,} texts, found {share.found:.3f}, "
                  f"right {share.right:.3f}")
        return
    if options.what == "reader":
        from benchmarks.training.learned_reader import train_reader
        from cir_core.encoders import load_encoder

        made, calibration = train_reader(load_encoder(options.encoder), options.folder, progress=print)
        made.save(options.out)
        for row in calibration:
            print(f"{row.low:.1f} to {row.high:.1f}: {row.count:>7,} readings, said {row.said:.3f}, "
                  f"true {row.true:.3f}")
        return
    if options.what == "known":
        from benchmarks.training.known_garments import measure_known
        from cir_core.encoders import load_encoder

        measure_known(load_encoder(options.encoder), options.folder, progress=print).save(options.out)
        return
    from benchmarks.training.recipe import TrainingRecipe
    from benchmarks.training.sample_encoder import train_sample_encoder

    epochs = options.epochs if options.epochs is not None else 8 if options.start else 36
    if not options.start and epochs <= TrainingRecipe().image_epochs:
        parser.error(f"A new encoder needs more than {TrainingRecipe().image_epochs} epochs.")
    train_sample_encoder(options.out, cache=options.cache, epochs=epochs, seed=options.seed, threads=options.threads,
                         start=options.start)


if __name__ == "__main__":
    main()
