"""The wire format of a real server: that of ``transformers serve``, with a tiny model of random weights.

Such a model writes garbage, so what is tested is that its replies are read, counted, found
unusable, and refused in a sentence.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from cir_core.errors import LanguageModelError, LanguageModelUnavailable, Stopped
from cir_core.language.base import Observer
from cir_core.language.openai.model import OpenAILanguageModel
from cir_core.language.openai.server import Server
from cir_core.language.tasks import MergeTask
from tests.fakes.patience import PATIENCE, wait_for

pytestmark = pytest.mark.extended
MERGE = MergeTask("a red dress", "make it blue")
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)


def save_tiny_model(folder: Path) -> None:
    """A Llama of two layers that reads and writes bytes."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {sign: number for number, sign in enumerate(["<pad>", "<s>", "</s>", *alphabet])}
    inner = Tokenizer(models.BPE(words, []))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=inner, pad_token="<pad>", bos_token="<s>", eos_token="</s>", chat_template=TEMPLATE)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=8192, pad_token_id=0, bos_token_id=1, eos_token_id=2)
    transformers.LlamaForCausalLM(config).save_pretrained(folder)


@pytest.fixture(scope="module")
def served(tmp_path_factory) -> Iterator[tuple[str, str]]:
    """Address and model name of a running ``transformers serve``."""
    folder = tmp_path_factory.mktemp("served")
    save_tiny_model(folder / "tiny")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(Path(__file__).parents[1] / "fakes/serve_tiny.py"), str(port)]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, cwd=folder,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "OMP_WAIT_POLICY": "PASSIVE", "HF_HOME": str(folder / "home")})
    try:
        wait_for(lambda: answers(port), going=lambda: process.poll() is None, told=log.read_text, pause=0.2)
        yield f"http://127.0.0.1:{port}/v1", str(folder / "tiny")
    finally:
        process.terminate()
        process.wait(PATIENCE)


def answers(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/health", trust_env=False, timeout=PATIENCE).status_code == 200
    except httpx2.TransportError:
        return False


@pytest.fixture
def model(served) -> Iterator[OpenAILanguageModel]:
    url, name = served
    made = OpenAILanguageModel(Server(url, name, sees=False, retries=0, timeout=PATIENCE))
    yield made
    made.close()


class Onlooker(Observer):
    def __init__(self, stop: bool = False) -> None:
        super().__init__()
        self.stop_at_first = stop

    def spent(self, usage):
        super().spent(usage)
        if self.stop_at_first:
            self.stop()


@pytest.mark.parametrize("watched", [True, False])
def test_garbage_ends_in_a_sentence_after_one_repair(model, watched):
    watch = Onlooker()
    with pytest.raises(LanguageModelError, match=r"'merge' twice in a form that cannot be used") as caught:
        model.complete(MERGE, watch if watched else None)
    assert not isinstance(caught.value, LanguageModelUnavailable)
    if watched:
        # A token per byte: the prompt has more than a thousand characters, and the repair shows it again.
        assert watch.usage.calls == 2 and watch.usage.prompt_tokens > 2000
        assert 2 <= watch.usage.completion_tokens <= 70 + 140
        assert watch.usage.models == (model.name,)


def test_stopping_before_the_repair(model):
    watch = Onlooker(stop=True)
    with pytest.raises(Stopped):
        model.complete(MERGE, watch)
    assert watch.usage.calls == 1


def test_a_model_that_is_not_there(served):
    made = OpenAILanguageModel(Server(served[0], "/no/such/model", sees=False, retries=0, timeout=PATIENCE))
    with pytest.raises(LanguageModelError, match=r"server failed \(HTTP 500.*\)\. Look at the server's log") as raised:
        made.complete(MERGE)
    assert "127.0.0.1" not in str(raised.value)    # the message reaches people who search
    made.close()
