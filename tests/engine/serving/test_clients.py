"""The clients that people really use, against the gateway in front of a simulated engine."""

from __future__ import annotations

import anthropic
import openai
import pytest

from engine.serving.kit import Yard, policy
from stellwerk.serving.engines.simulated.settings import Fault


@pytest.fixture
async def client(yard: Yard) -> openai.AsyncOpenAI:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    return openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{yard.port}/v1", api_key="none", max_retries=0)


async def test_openai_chat_whole_and_streamed(client: openai.AsyncOpenAI) -> None:
    async with client:
        whole = await client.chat.completions.create(
            model="auto", messages=[{"role": "user", "content": "hi"}], seed=7, max_tokens=6
        )
        text = whole.choices[0].message.content
        assert text is not None
        assert text.startswith("[simulated]")
        assert whole.usage is not None
        assert whole.usage.completion_tokens == 6
        stream = await client.chat.completions.create(
            model="auto", messages=[{"role": "user", "content": "hi"}], seed=7, max_tokens=6, stream=True,
            stream_options={"include_usage": True},
        )  # fmt: skip
        pieces, usage = [], None
        async for chunk in stream:
            if chunk.choices:
                pieces.append(chunk.choices[0].delta.content or "")
            usage = chunk.usage or usage
        assert "".join(pieces) == text
        assert usage is not None
        assert usage.completion_tokens == 6


async def test_openai_completions_embeddings_responses_and_models(client: openai.AsyncOpenAI) -> None:
    async with client:
        completion = await client.completions.create(model="auto", prompt="Once", max_tokens=4)
        assert completion.choices[0].finish_reason == "length"
        vectors = await client.embeddings.create(model="auto", input=["a", "b"], encoding_format="float")
        assert len(vectors.data) == 2
        assert vectors.data[0].embedding != vectors.data[1].embedding
        response = await client.responses.create(model="auto", input="hi")
        assert response.output_text.startswith("[simulated]")
        kinds = [event.type async for event in await client.responses.create(model="auto", input="hi", stream=True)]
        assert kinds[0] == "response.created"
        assert kinds[-1] == "response.completed"
        assert [model.id async for model in client.models.list()] == ["auto"]


async def test_openai_errors_are_the_clients_own_exceptions(client: openai.AsyncOpenAI, yard: Yard) -> None:
    async with client:
        with pytest.raises(openai.NotFoundError, match="gpt-99"):
            await client.chat.completions.create(model="gpt-99", messages=[{"role": "user", "content": "hi"}])
        yard.engines[0].faults.append(Fault("status", 503))
        with pytest.raises(openai.InternalServerError):
            await client.chat.completions.create(model="auto", messages=[{"role": "user", "content": "hi"}])
        yard.engines[0].faults.append(Fault("half"))
        stream = await client.chat.completions.create(
            model="auto", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        with pytest.raises(openai.APIError, match="broke off"):
            async for _ in stream:
                pass


async def test_anthropic_messages_whole_streamed_and_broken(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    async with anthropic.AsyncAnthropic(
        base_url=f"http://127.0.0.1:{yard.port}", api_key="none", max_retries=0
    ) as client:
        message = await client.messages.create(model="auto", max_tokens=6, messages=[{"role": "user", "content": "hi"}])
        assert message.content[0].type == "text"
        assert message.content[0].text.startswith("[simulated]")
        assert message.stop_reason == "max_tokens"
        async with client.messages.stream(
            model="auto", max_tokens=6, messages=[{"role": "user", "content": "hi"}]
        ) as stream:
            final = await stream.get_final_message()
        assert final.usage.output_tokens == 6
        with pytest.raises(anthropic.NotFoundError):
            await client.messages.create(model="x", max_tokens=6, messages=[{"role": "user", "content": "hi"}])
        yard.engines[0].faults.append(Fault("half"))
        with pytest.raises(anthropic.APIStatusError):
            async with client.messages.stream(
                model="auto", max_tokens=40, messages=[{"role": "user", "content": "hi"}]
            ) as stream:
                await stream.get_final_message()
