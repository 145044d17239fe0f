"""A request goes through, and everything around it is as promised."""

from __future__ import annotations

import json

from engine.serving.kit import Wire, Yard, chat, policy, request, until


async def test_an_answer_comes_back_with_pool_and_path(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    answer = await yard.ask()
    assert answer.status == 200
    assert answer.headers["x-stellwerk-pool"] == "small"
    assert answer.headers["x-stellwerk-path"] == "only>small"
    assert answer.headers["x-simulated"] == "true"
    message = answer.json()["choices"][0]["message"]["content"]
    assert message.startswith("[simulated]")


async def test_the_body_arrives_as_it_was_but_for_the_model(yard: Yard) -> None:
    engine, port = await yard.engine()
    await yard.gateway(policy(port))
    body = b'{ "messages" : [{"role":"user", "content":"say \\"model\\": \\u00e4 \xff"}],\n "model":"auto" ,"x": 1.50}'
    # The engine refuses the invalid UTF-8; what counts is which bytes reached it.
    await yard.ask(body=body)
    assert engine.bodies[-1] == body.replace(b'"auto"', b'"tiny"')


async def test_secrets_and_hop_headers_stay_here_and_others_travel(yard: Yard) -> None:
    engine, port = await yard.engine()
    await yard.gateway(policy(port))
    await yard.ask(
        authorization="Bearer secret", cookie="a=b", x_api_key="k", x_trace="7", connection="keep-alive",
        accept_encoding="gzip",
    )  # fmt: skip
    names = {name for name, _ in engine.heads[-1]}
    assert b"x-trace" in names
    assert not names & {b"authorization", b"cookie", b"x-api-key", b"connection", b"accept-encoding"}


async def test_several_requests_share_one_connection(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    wire = await Wire.open(yard.port)
    for number in range(5):
        await wire.send(request("/v1/chat/completions", chat(f"number {number}")))
        assert (await wire.answer()).status == 200
    await wire.close()


async def test_pipelined_requests_are_answered_in_order(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    wire = await Wire.open(yard.port)
    first = request("/v1/chat/completions", chat("one", max_tokens=1))
    await wire.send(first + request("/health", b"", method="GET") + first)
    answers = [await wire.answer() for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 200, 200]
    assert [b"choices" in answer.body for answer in answers] == [True, False, True]
    await wire.close()


async def test_a_stream_comes_through_whole_and_ends_in_done(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port))
    answer = await yard.ask(body=chat(stream=True, stream_options={"include_usage": True}))
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.complete
    assert answer.events[-1] == "[DONE]"
    usage = json.loads(answer.events[-2])["usage"]
    counters = gateway.counters.pool("small")
    assert (counters.input_tokens, counters.output_tokens) == (usage["prompt_tokens"], usage["completion_tokens"])


async def test_http_1_0_gets_the_stream_until_the_connection_closes(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    wire = await Wire.open(yard.port)
    await wire.send(request("/v1/chat/completions", chat(stream=True)).replace(b"HTTP/1.1", b"HTTP/1.0", 1))
    answer = await wire.answer()
    assert "transfer-encoding" not in answer.headers
    assert answer.events[-1] == "[DONE]"
    await wire.close()


async def test_http_1_0_keeps_its_connection_if_it_asks_and_is_told_so(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    wire = await Wire.open(yard.port)
    kept = {"connection": "keep-alive"}
    for data in (request("/v1/chat/completions", chat(), **kept), request("/health", b"", "GET", **kept)):
        await wire.send(data.replace(b"HTTP/1.1", b"HTTP/1.0", 1))
        answer = await wire.answer()
        assert (answer.status, answer.headers["connection"]) == (200, "keep-alive")
    await wire.send(request("/health", b"", "GET").replace(b"HTTP/1.1", b"HTTP/1.0", 1))
    assert (await wire.answer()).headers["connection"] == "close"
    assert await wire.reader.read() == b""
    await wire.close()


async def test_chunked_bodies_are_understood(yard: Yard) -> None:
    engine, port = await yard.engine()
    await yard.gateway(policy(port))
    body = json.dumps(chat("in pieces")).encode()
    wire = await Wire.open(yard.port)
    await wire.send(
        b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"transfer-encoding: chunked\r\n\r\n"
    )
    for start in range(0, len(body), 7):
        piece = body[start : start + 7]
        await wire.send(b"%x\r\n%b\r\n" % (len(piece), piece))
    await wire.send(b"0\r\ntrailer: ignored\r\n\r\n" + request("/health", b"", method="GET"))
    assert (await wire.answer()).status == 200
    assert (await wire.answer()).json() == {"status": "ok"}
    assert engine.bodies[-1] == body.replace(b'"auto"', b'"tiny"')
    await wire.close()


async def test_expect_100_continue_is_answered_before_the_body(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    wire = await Wire.open(yard.port)
    whole = request("/v1/chat/completions", chat(), expect="100-continue")
    head, _, body = whole.partition(b"\r\n\r\n")
    await wire.send(head + b"\r\n\r\n")
    assert await wire.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    await wire.send(body)
    assert (await wire.answer()).status == 200
    await wire.close()


async def test_one_model_can_be_asked_for_by_name(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port).replace("{auto: only}", '{auto: only, "org/*": only}'))
    assert (await yard.get("/v1/models/auto")).json()["id"] == "auto"
    assert (await yard.get("/v1/models/org/a%20b")).json()["id"] == "org/a b"
    missing = await yard.get("/v1/models/none")
    assert (missing.status, missing.json()["error"]["code"]) == (404, "model_not_found")
    assert (await yard.ask("/v1/models/auto", method="DELETE")).status == 405


async def test_head_has_no_body_and_options_names_the_methods(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    wire = await Wire.open(yard.port)
    await wire.send(request("/v1/models", b"", method="HEAD") + request("/v1/models", b"", method="GET"))
    head = await wire.answer(head_only=True)
    listed = await wire.answer()
    assert int(head.headers["content-length"]) == len(listed.body)
    assert [entry["id"] for entry in listed.json()["data"]] == ["auto"]
    await wire.send(request("/v1/chat/completions", b"", method="OPTIONS"))
    options = await wire.answer()
    assert (options.status, options.headers["allow"]) == (204, "POST, OPTIONS")
    assert "access-control-allow-origin" not in options.headers
    await wire.close()


async def test_wrong_paths_methods_and_bodies_get_clear_answers(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    assert (await yard.get("/nowhere")).status == 404
    assert (await yard.get("/v1/chat/completions")).status == 405
    for body, expected in (
        (b"", "JSON object"),
        (b"[1]", "JSON object"),
        (b'{"messages": []}', "no 'model'"),
        (b'{"model": 3}', "must be a string"),
        (b'{"model": "auto", "messages": [}', "not valid JSON"),
    ):
        answer = await yard.ask(body=body or b" ")
        assert answer.status in (400, 404, 502), body
        if b'"auto"' not in body:
            assert expected in answer.json()["error"]["message"]
    unknown = await yard.ask(body={"model": "gpt-99", "messages": []})
    assert unknown.status == 404
    assert unknown.json()["error"]["code"] == "model_not_found"
    assert "auto" in unknown.json()["error"]["message"]


async def test_all_apis_pass_through(yard: Yard) -> None:
    _, port = await yard.engine()
    await yard.gateway(policy(port))
    for path, body, key in (
        ("/v1/completions", {"model": "auto", "prompt": "Once"}, "choices"),
        ("/v1/embeddings", {"model": "auto", "input": ["a", "b"]}, "data"),
        ("/v1/responses", {"model": "auto", "input": "hi"}, "output"),
        ("/v1/messages", {"model": "auto", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}, "content"),
    ):
        answer = await yard.ask(path, body)
        assert answer.status == 200, path
        assert key in answer.json(), path
    for path in ("/v1/completions", "/v1/responses", "/v1/messages"):
        body = {"model": "auto", "prompt": "x", "input": "x", "stream": True, "max_tokens": 5}
        answer = await yard.ask(path, body)
        assert answer.complete, path
        assert b"simulated" in answer.body, path


async def test_the_gateways_own_pages(yard: Yard) -> None:
    _, port = await yard.engine()
    gateway = await yard.gateway(policy(port, pool="    context_window: 77\n"))  # the engine says more
    await until(lambda: gateway.deployment.pools["small"].proven == 1)
    assert (await yard.get("/ready")).json()["replicas_ready"] == {"small": 1}
    await yard.ask()
    assert (await yard.get("/health")).json() == {"status": "ok"}
    assert (await yard.get("/ready")).status == 200
    stats = (await yard.get("/stellwerk/stats")).json()
    assert stats["pools"]["small"]["statuses"] == {"200": 1}
    assert stats["pools"]["small"]["context_window"] == 77
    assert stats["ways"] == {"only>small": 1}
    metrics = (await yard.get("/metrics")).body.decode()
    assert 'stellwerk_requests_total{pool="small",status="200"} 1.0' in metrics
    explained = (await yard.ask("/stellwerk/explain")).json()
    assert (explained["pool"], explained["path"]) == ("small", "only>small")
    refused = (await yard.ask("/stellwerk/explain", {"model": "nope"})).json()
    assert (refused["pool"], refused["error"]) == (None, "unknown_model")


async def test_every_answer_carries_pool_and_path(yard: Yard) -> None:
    _, port = await yard.engine()
    extra = "  away: {model: big, replicas: [{url: 'http://127.0.0.1:1/v1'}], health: {path: none}, context_window: 9}"
    text = policy(port, extra=extra).replace("{auto: only}", "{auto: only, far: there}")
    await yard.gateway(text.replace("steps:\n", "steps:\n  there: {try: [away]}\n"))
    long = {"model": "far", "messages": [{"role": "user", "content": "x " * 100}]}
    seen = {
        "200": await yard.get("/v1/models"),
        "health": await yard.get("/health"),
        "404 path": await yard.get("/nowhere"),
        "405": await yard.get("/v1/chat/completions"),
        "options": await yard.ask("/v1/models", b"", method="OPTIONS"),
        "400 body": await yard.ask(body=b"{"),
        "404 model": await yard.ask(body={"model": "none"}),
        "421": await yard.get("/v1/models", host="elsewhere"),
        "413": await yard.ask(content_length="999999999999"),
        "403": await yard.ask(x_stellwerk_pool="small"),
        "400 head": await yard.ask(content_length="x"),
    }
    for what, answer in seen.items():
        assert (answer.headers["x-stellwerk-pool"], answer.headers["x-stellwerk-path"]) == ("-", "-"), what
    short = await yard.ask(body={**long, "messages": [{"role": "user", "content": "x"}]})
    assert (short.status, short.headers["x-stellwerk-pool"], short.headers["x-stellwerk-path"]) == (
        502, "away", "there>away",
    )  # fmt: skip
    refused = await yard.ask(body=long)
    assert (refused.status, refused.headers["x-stellwerk-pool"], refused.headers["x-stellwerk-path"]) == (
        400, "away", "there>away",
    )  # fmt: skip
