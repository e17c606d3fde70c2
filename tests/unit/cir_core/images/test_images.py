"""Files of all kinds become upright RGB, or say in plain words why not."""

import io
import struct
import warnings
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms, TiffImagePlugin

from cir_core.errors import ImageUnreadable
from cir_core.images.load import for_encoder, open_image, process_image, save_thumbnail
from cir_core.images.pixels import consumed_to_rgb, pad_to_ratio, to_rgb
from cir_core.images.png_chunks import readable
from tests.fakes.memory import grown
from tests.fakes.mixed_folder import huge_png

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)


def encoded(image, format="PNG", **options):
    stream = io.BytesIO()
    image.save(stream, format, **options)
    return stream.getvalue()


def opened(source, limit=64.0, **options):
    image = open_image(source, max_megapixels=limit, **options)
    assert image.mode == "RGB"
    return image


def corners():
    """2 x 1 blocks of 8 pixels: red on the left, blue on the right."""
    image = Image.new("RGB", (16, 8), RED)
    image.paste(BLUE, (8, 0, 16, 8))
    return image


@pytest.mark.parametrize(
    ("orientation", "size", "red_at"),
    # Tag 0x0112 says where the stored top left is shown (EXIF 2.32, 4.6.5.1).
    [(1, (16, 8), (2, 4)), (2, (16, 8), (13, 4)), (3, (16, 8), (13, 4)), (4, (16, 8), (2, 4)),
     (5, (8, 16), (4, 2)), (6, (8, 16), (4, 2)), (7, (8, 16), (4, 13)), (8, (8, 16), (4, 13))],
)
@pytest.mark.parametrize("format", ["PNG", "TIFF", "WEBP", "JPEG"])
def test_photos_stand_upright(orientation, size, red_at, format):
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"lossless": True} if format == "WEBP" else {"quality": 95} if format == "JPEG" else {}
    image = opened(encoded(corners(), format, exif=exif, **options))
    assert image.size == size
    assert image.getpixel(red_at)[0] > 200 > 80 > image.getpixel(red_at)[2]
    assert 0x0112 not in image.getexif()


def test_transparency_is_seen_on_white():
    half = Image.new("RGBA", (4, 4), (255, 0, 0, 128))
    red, green, blue = opened(encoded(half)).getpixel((0, 0))
    assert red == 255 and green == blue == pytest.approx(127, abs=1)  # 255 * (1 - 128/255) = 127
    clear = Image.new("P", (4, 4), 0)
    clear.putpalette([0, 0, 0, 9, 9, 9])
    assert opened(encoded(clear, transparency=0)).getpixel((0, 0)) == WHITE
    assert opened(encoded(Image.new("LA", (4, 4), (0, 0)))).getpixel((0, 0)) == WHITE


def test_sixteen_bits_keep_their_greys():
    deep = Image.fromarray(np.array([[0, 257 * 100, 65535]], dtype=np.uint16))
    image = opened(encoded(deep))
    assert [image.getpixel((x, 0))[0] for x in range(3)] == [0, 100, 255]


def test_other_layouts():
    assert opened(encoded(Image.new("CMYK", (8, 8), (0, 255, 255, 0)), "JPEG")).getpixel((4, 4))[0] > 230
    assert opened(encoded(Image.new("L", (2, 2), 7))).getpixel((0, 0)) == (7, 7, 7)
    assert opened(encoded(Image.new("1", (2, 2), 1))).getpixel((0, 0)) == WHITE
    floats = Image.fromarray(np.array([[0.0, 0.5, 1.0]], dtype=np.float32))
    assert opened(encoded(floats, "TIFF")).getpixel((1, 0))[0] == 128
    assert opened(encoded(Image.new("RGB", (1, 1), RED))).getpixel((0, 0)) == RED


@pytest.mark.parametrize("format", ["GIF", "WEBP", "PNG", "TIFF"])
def test_the_first_frame_counts(format):
    frames = [Image.new("RGB", (8, 8), colour) for colour in (GREEN, RED, BLUE)]
    data = encoded(frames[0], format, save_all=True, append_images=frames[1:])
    assert np.abs(np.subtract(opened(data).getpixel((4, 4)), GREEN)).max() < 20


def test_heic_is_read():
    heif = pytest.importorskip("pillow_heif")
    heif.register_heif_opener()
    assert opened(encoded(Image.new("RGB", (64, 64), BLUE), "HEIF")).getpixel((9, 9))[2] > 200


def test_the_content_decides_not_the_name(tmp_path):
    path = tmp_path / "photo.jpg"
    path.write_bytes(encoded(corners()))
    assert opened(path).getpixel((0, 0)) == RED


@pytest.mark.parametrize(
    ("data", "said"),
    [(b"", "photo.jpg is empty (0 bytes)"),
     (b"hello " * 99, "photo.jpg cannot be read as an image. Use JPEG, PNG, WebP, GIF, HEIC"),
     (encoded(corners())[:30], "photo.jpg is damaged"),
     (encoded(Image.effect_noise((99, 99), 50), "JPEG")[:1500], "photo.jpg is cut off"),
     (encoded(Image.effect_noise((99, 99), 50))[:1500], "photo.jpg is cut off"),
     (huge_png(20600, 20000), "photo.jpg is 412 megapixels; the limit is 64 (CIRQUE_MAX_IMAGE_MEGAPIXELS)"),
     (huge_png(10000, 10000), "photo.jpg is 100 megapixels; the limit is 64")],
)
def test_unreadable_files_say_why(tmp_path, data, said):
    path = tmp_path / "photo.jpg"
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ImageUnreadable) as caught:
            opened(path)
    assert str(caught.value).startswith(said)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(ImageUnreadable, match=r"gone\.png is missing"):
        opened(tmp_path / "gone.png")
    with pytest.raises(ImageUnreadable, match="is a folder"):
        opened(tmp_path)
    with pytest.raises(ImageUnreadable, match=r"^The image is empty"):
        opened(b"")
    with pytest.raises(ImageUnreadable, match=r"^upload 3 is empty"):
        opened(io.BytesIO(b""), name="upload 3")


def test_the_limit_is_ours_not_pillows():
    before = Image.MAX_IMAGE_PIXELS
    assert opened(encoded(Image.new("L", (1000, 1000))), limit=1.0).size == (1000, 1000)
    with pytest.raises(ImageUnreadable, match=r"limit is 0\.5 "):
        opened(encoded(Image.new("L", (1000, 1000))), limit=0.5)
    # 180 megapixels: Pillow's own limit would refuse it whatever the setting.
    with pytest.raises(ImageUnreadable, match=r"cut off|damaged"):
        opened(huge_png(18000, 10000), limit=200)
    assert before == Image.MAX_IMAGE_PIXELS


def test_draft_decodes_a_smaller_jpeg():
    data = encoded(Image.new("RGB", (1600, 1200), GREEN), "JPEG")
    assert opened(data).size == (1600, 1200)
    assert opened(data, draft_edge=640).size == (800, 600)


def test_images_for_encoders_stop_at_1024_pixels():
    small, large = Image.new("RGB", (1024, 10)), Image.new("RGB", (4096, 1024))
    assert for_encoder(small) is small
    assert for_encoder(large).size == (1024, 256) and large.size == (4096, 1024)


def test_thumbnails_are_small_webp_written_whole(tmp_path):
    path = tmp_path / "ab" / "c.webp"
    save_thumbnail(Image.new("RGB", (1000, 500), RED), path)
    with Image.open(path) as thumbnail:
        assert (thumbnail.format, thumbnail.size) == ("WEBP", (320, 160))
    assert list(path.parent.iterdir()) == [path]


def speckled(mode):
    """70 x 50 with all values a mode has, transparency too; RGB with one colour that is transparent, as PNG allows."""
    rng = np.random.default_rng(7)
    if mode in ("I", "F"):
        values = rng.random((50, 70))
        return Image.fromarray(values.astype("f4") if mode == "F" else (values * 10**6).astype("i4"))
    if mode == "I;16":
        return Image.fromarray(rng.integers(0, 2**16, (50, 70), dtype=np.uint16))
    bands = {"L": 1, "P": 1, "1": 1, "LA": 2, "RGB": 3, "RGBA": 4, "CMYK": 4, "YCbCr": 3}[mode]
    size = (50, 70) if bands == 1 else (50, 70, bands)
    if mode == "1":
        return Image.fromarray(rng.integers(0, 2, size, dtype=np.uint8) * 255).convert("1")
    image = Image.frombytes(mode, (70, 50), rng.integers(0, 256, size, dtype=np.uint8).tobytes())
    if mode == "P":
        image.putpalette(rng.integers(0, 256, 768, dtype=np.uint8).tobytes())
        image.info["transparency"] = 3
    if mode == "RGB":
        image.info["transparency"] = image.getpixel((0, 0))
    return image


@pytest.mark.parametrize("mode", ["L", "P", "1", "LA", "RGB", "RGBA", "CMYK", "YCbCr", "I;16", "I", "F"])
def test_strip_by_strip_is_the_same_as_at_once(mode, monkeypatch):
    whole = to_rgb(speckled(mode))
    monkeypatch.setattr("cir_core.images.pixels._STRIP", 70 * 3)   # 50 lines are 16 strips of 3 and one of 2
    assert to_rgb(speckled(mode)).tobytes() == whole.tobytes()
    consumed = consumed_to_rgb(speckled(mode))
    assert consumed.mode == "RGB" and consumed.tobytes() == whole.tobytes()
    small = for_encoder(consumed.resize((3000, 40)))   # what is not seen of a pixel has no effect
    assert small.tobytes() == for_encoder(whole.resize((3000, 40))).tobytes()


def test_a_file_is_read_and_not_another_of_its_name(tmp_path, monkeypatch):
    """Pillow maps uncompressed files into memory by their name."""
    for folder, colour in (("there", RED), ("here", BLUE)):
        (tmp_path / folder).mkdir()
        Image.new("RGB", (9, 9), colour).save(tmp_path / folder / "photo.bmp")
    monkeypatch.chdir(tmp_path / "here")
    assert opened(tmp_path / "there" / "photo.bmp").getpixel((0, 0)) == RED


def test_work_is_done_within_the_budget_and_its_errors_are_its_own():
    data = encoded(Image.new("RGB", (2000, 1000), RED))
    assert process_image(data, lambda image: for_encoder(image).size, max_megapixels=2) == (1024, 512)

    def full(image):
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        process_image(data, full, max_megapixels=2)


_PEAK = """
    import io
    import numpy as np
    from PIL import Image
    from tests.fakes import picture_files as files
    from cir_core.images.decode_budget import decoding_bytes
    from cir_core.images.load import _header, for_encoder, process_image
    from cir_core.images.decode_budget import return_large_blocks

    return_large_blocks()
    noise = Image.effect_noise((400, 300), 90).resize((4000, 3000))
    rgb = noise.convert("RGB")
    rgba = rgb.copy()
    rgba.putalpha(noise)
    upright = Image.Exif()
    upright[0x0112] = 6
    p3 = files.profile(files.screen, files.DISPLAY_P3)
    inks = files.ink_profile((96, 0, 0), (9, 0, 0))
    quick, palette = {"compress_level": 1}, rgb.quantize(16)   # how well it is compressed makes no difference
    kinds = [(rgb, "PNG", quick), (rgb, "PNG", {"exif": upright, **quick}), (rgba, "PNG", quick),
             (noise, "PNG", quick), (palette, "PNG", quick), (noise.convert("I;16"), "PNG", quick),
             (rgb, "JPEG", {"exif": upright}),
             (rgb, "JPEG", {"progressive": True, "subsampling": 0}), (rgb, "TIFF", {"compression": "tiff_lzw"}),
             (noise.convert("F"), "TIFF", {}), (rgb, "WEBP", {"method": 0}), (rgb, "BMP", {}),
             (palette, "GIF", {}),
             (rgb, "JPEG", {"icc_profile": p3}), (rgba, "PNG", {"icc_profile": p3, **quick}),
             (noise, "PNG", {"icc_profile": p3, **quick}), (rgb.convert("CMYK"), "JPEG", {"icc_profile": inks}),
             (rgb, "no end", {}), (rgb, "high range", {}), (rgb, "floats", {}),
             (rgb, "a colour of 16 bits is clear", {})]
    made = {
        "no end": lambda image: files.encoded(image, "JPEG")[:-2],
        "high range": lambda image: files.png(np.array(image), files.chunk(b"cICP", bytes((9, 16, 0, 1)))),
        "floats": lambda image: files.tiff((np.array(image) / 255).astype("f4"), 2),
        "a colour of 16 bits is clear": lambda image: files.png(
            np.array(image).astype("u2") * 257, files.chunk(b"tRNS", bytes(6)))}
    found = []
    for image, form, options in kinds:
        for picture in (image.crop((0, 0, 40, 30)), image):   # what is loaded once is loaded for the first, small one
            data = made[form](picture) if form in made else files.encoded(picture, form, **options)
            header = _header(io.BytesIO(data), data[:32], "x")
            estimated = decoding_bytes(header, header.size) / 2**20
            _, peak = measure(lambda: process_image(data, for_encoder, max_megapixels=64))
        found.append((form + " " + image.mode + " " + ", ".join(options), estimated, peak))
    print(json.dumps(found))
"""


@pytest.mark.extended
def test_memory_is_what_was_taken_from_the_budget():
    """12 megapixels are 46 MB as RGB. 10 MB are allowed for what the libraries keep."""
    for kind, estimated, peak in grown(_PEAK):
        assert peak < estimated + 10, (kind, estimated, peak)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def with_chunks(*chunks, after=False):
    """A PNG with these chunks before its pixels, or after them."""
    whole = encoded(Image.new("RGB", (8, 8), RED))
    at = whole.index(b"IEND") - 4 if after else whole.index(b"IDAT") - 4
    return whole[:at] + b"".join(chunks) + whole[at:]


LONG = b"node " * 400_000
PACKED = zlib.compress(LONG)
PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("data", [
    chunk(b"tEXt", b"workflow\0" + LONG), chunk(b"zTXt", b"workflow\0\0" + PACKED),
    chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + PACKED), chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + LONG),
    b"".join(chunk(b"zTXt", b"x%d\0\0" % n + zlib.compress(b"x" * 900_000)) for n in range(80)),
    chunk(b"zTXt", b"x\0\0" + b"no zlib" * 1000), chunk(b"zTXt", b"x\0\0" + zlib.compress(bytes(2**27))),
])
def test_long_texts_in_a_png_are_no_matter_of_its_pixels(data, after):
    assert opened(with_chunks(data, after=after)).getpixel((4, 4)) == RED


def test_very_many_chunks_take_no_memory():
    many = with_chunks(chunk(b"teSt", b"") * 200_000)
    stream = io.BytesIO(many)
    assert readable(stream) == (stream, None) and stream.tell() == 0
    assert opened(many).getpixel((4, 4)) == RED


def test_a_disk_that_fails_while_a_png_is_looked_through():
    class Failing(io.BytesIO):
        def read(self, size=-1):
            if self.tell() > 20:
                raise OSError(5, "Input/output error")
            return super().read(size)

    with pytest.raises(ImageUnreadable, match="cannot be read from disk: Input/output error"):
        opened(Failing(encoded(Image.new("RGB", (8, 8)))))


@pytest.mark.parametrize("size", [len(PROFILE), 1_500_000, 2**24 + 1])
def test_a_large_profile_in_a_png(size):
    profile = struct.pack(">I", size) + PROFILE[4:] + bytes(size - len(PROFILE))
    image = opened(with_chunks(chunk(b"iCCP", b"mine\0\0" + zlib.compress(profile))))
    assert image.getpixel((4, 4)) == RED and "icc_profile" not in image.info


@pytest.mark.parametrize("cut", [9, 40, 50, -40])
def test_a_png_with_texts_that_is_cut_off_says_so(cut):
    with pytest.raises(ImageUnreadable, match=r"cut off|damaged"):
        opened(with_chunks(chunk(b"tEXt", b"x\0" + LONG), after=cut > 0)[:cut])


def tiff(*pictures):
    """Pictures of these colours and sizes in one file, each with its NewSubfileType; None: without that tag."""
    stream = io.BytesIO()
    with TiffImagePlugin.AppendingTiffWriter(stream, True) as writer:
        for colour, size, kind in pictures:
            tags = TiffImagePlugin.ImageFileDirectory_v2()
            if kind is not None:
                tags[254] = kind
            Image.new("RGB", size, colour).save(writer, format="TIFF", tiffinfo=tags)
            writer.newFrame()
    return stream.getvalue()


@pytest.mark.parametrize(("pictures", "colour", "size"), [
    ([(BLUE, (160, 120), 1), (RED, (800, 600), 0)], RED, (800, 600)),                     # camera raw
    ([(BLUE, (160, 120), 1), (GREEN, (320, 240), 1), (RED, (800, 600), 0)], RED, (800, 600)),
    ([(BLUE, (100, 100), 1), (RED, (800, 600), 0)], RED, (800, 600)),                     # a square preview
    ([(BLUE, (160, 120), None), (RED, (800, 600), None)], RED, (800, 600)),               # a scan, nothing said
    ([(RED, (800, 600), 0), (BLUE, (160, 120), 1)], RED, (800, 600)),                     # the preview last
    ([(RED, (800, 600), 0), (BLUE, (1600, 1200), 0)], RED, (800, 600)),                   # two pages: the first
    ([(RED, (160, 120), 2), (BLUE, (160, 120), 2)], RED, (160, 120)),                     # two small pages
    ([(RED, (160, 120), None), (BLUE, (600, 800), None)], RED, (160, 120)),               # a page of another shape
    ([(BLUE, (160, 120), 1), (RED, (800, 600), 0), (GREEN, (400, 300), 0)], RED, (800, 600)),
])
def test_the_main_picture_of_a_tiff(pictures, colour, size):
    image = opened(tiff(*pictures))
    assert (image.size, image.getpixel((5, 5))) == (size, colour)


def test_a_file_with_nothing_but_a_preview_is_refused():
    with pytest.raises(ImageUnreadable, match=r"only a preview of 160 × 120 pixels can be read.*Export it"):
        opened(tiff((BLUE, (160, 120), 1)))


@pytest.mark.parametrize(("size", "ratio", "expected"), [
    ((300, 100), 1.5, (300, 200)),      # 300 / 1.5 = 200
    ((100, 300), 1.5, (200, 300)),
    ((300, 100), 1.25, (300, 240)),
    ((300, 200), 1.5, (300, 200)),      # fits exactly
    ((240, 200), 1.5, (240, 200)),
    ((300, 100), 1.0, (300, 300)),
    ((300, 100), 0, (300, 100)),
    ((7, 1), 1.5, (7, 3)),              # 4.67 less 1, halved: one row above and below
])
def test_sizes(size, ratio, expected):
    assert pad_to_ratio(Image.new("RGB", size, "white"), ratio).size == expected


def test_the_image_is_in_the_middle_of_black():
    padded = np.asarray(pad_to_ratio(Image.new("RGB", (30, 10), "white"), 1.5))
    assert (padded[5:15] == 255).all() and not padded[:5].any() and not padded[15:].any()


def test_an_image_that_fits_is_returned_itself():
    image = Image.new("RGB", (10, 10))
    assert pad_to_ratio(image, 1.5) is image
