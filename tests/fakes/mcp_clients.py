"""The reference client of the Model Context Protocol, over both transports."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

ENDPOINT = "/gradio_api/mcp/"
TRANSPORTS = ("http", "sse")


class ToolFailed(Exception):
    """A tool answered with an error; its text."""


@asynccontextmanager
async def mcp_session(url: str, headers: dict[str, str], transport: str = "http") -> AsyncIterator[ClientSession]:
    """An initialized session with the app at ``url``."""
    async with AsyncExitStack() as held:
        if transport == "http":
            client = await held.enter_async_context(httpx.AsyncClient(headers=headers, timeout=120))
            reading, writing, _ = await held.enter_async_context(
                streamable_http_client(url + ENDPOINT, http_client=client))
        else:
            reading, writing = await held.enter_async_context(sse_client(f"{url}{ENDPOINT}sse", headers=headers))
        session = await held.enter_async_context(ClientSession(reading, writing))
        await session.initialize()
        yield session


async def call(session: ClientSession, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """A tool's structured answer. The client checks it against the tool's output schema. Raises ``ToolFailed``."""
    result = await session.call_tool(tool, arguments)
    if result.isError:
        raise ToolFailed(text_of(result))
    assert result.structuredContent is not None
    return result.structuredContent


def text_of(result: CallToolResult) -> str:
    return "\n".join(content.text for content in result.content if isinstance(content, TextContent))
