"""SQL cache of language-model answers."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Engine, insert, select
from sqlalchemy.exc import IntegrityError

from cir_core.errors import StorageError
from cir_core.support.texts import can_be_stored
from storage.engine.database import reading, writing
from storage.mapping import tables


class SqlAnswerCache:
    """``cir_core.language.wrappers.cached.AnswerCache`` over an engine of ``open_database``. Thread-safe. Both methods
    raise ``StorageError``; a search can go on without its cache."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def get(self, key: str) -> str | None:
        with reading(self.engine) as connection:
            answer: str | None = connection.execute(
                select(tables.answers.c.answer).where(tables.answers.c.key == key)).scalar_one_or_none()
        return answer

    def put(
        self, key: str, answer: str, *, model: str, role: str, prompt_version: str,
        prompt_tokens: int, completion_tokens: int,
    ) -> None:
        if not all(map(can_be_stored, (answer, model, role, prompt_version))):
            raise StorageError("The language model's answer contains characters that cannot be stored, so it "
                               "will be requested again next time.")
        try:
            with writing(self.engine) as connection:
                connection.execute(insert(tables.answers).values(
                    key=key, answer=answer, model=model, role=role, prompt_version=prompt_version,
                    prompt_tokens=prompt_tokens, completion_tokens=completion_tokens, created_at=datetime.now(UTC)))
        except StorageError as error:
            if not isinstance(error.__cause__, IntegrityError) or self.get(key) is None:
                raise
