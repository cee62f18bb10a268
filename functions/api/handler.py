"""The API: every route under /v1/users/{user_id}, and the open ones.

Rights: read and write items of the one table; with Bedrock embeddings, invoke the one model; nothing else.
"""

from collections.abc import Callable
from typing import Annotated

import recollect
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Header, Query
from recollect import wiring
from recollect.controller import MemoryController
from recollect.erasure import ErasureState
from recollect.http.api import Api, answer
from recollect.http.batch import refused, store_batch
from recollect.http.entrypoint import lambda_entrypoint
from recollect.schemas.fields import ETag, KeyText, UserId, version_of
from recollect.schemas.inputs import (
    BatchInput,
    ContextInput,
    ListInput,
    MemoryPatch,
    ResolveInput,
    RestoreInput,
    SearchInput,
    StoreInput,
)
from recollect.schemas.outputs import (
    BatchOutput,
    ContextOutput,
    HealthOutput,
    MemoryOutput,
    PageOutput,
    Receipt,
    ReceiptsOutput,
    SearchOutput,
    StatsOutput,
    memory_output,
)
from recollect.schemas.trail import (
    DeleteInput,
    EraseInput,
    ErasureOutput,
    EventsInput,
    EventsOutput,
    GetInput,
    VersionOutput,
    VersionsInput,
    VersionsOutput,
    version_output,
)
from recollect.settings import Settings

IdempotencyKey = Annotated[
    KeyText | None, Header(alias="idempotency-key", description="a repeat under the same key gets the same answer")
]

IfMatch = Annotated[
    ETag | None, Header(alias="if-match", description='the version that you have seen, such as "3"; 412 if it changed')
]
NEW = ("created", "superseded", "conflict")


def create_app(controller: MemoryController, report: Callable[[Exception], None]) -> Api:
    """Make the app: each route is a call and its answer."""
    api = Api(report)

    @api.user_route("POST", "/memories", "Store one memory, or a batch", 201, 207)
    def store(user_id: UserId, body: StoreInput, key: IdempotencyKey = None) -> Response[Receipt | BatchOutput]:
        request = api.write_request(user_id, key)
        if isinstance(body.root, BatchInput):
            return answer(207, BatchOutput(results=store_batch(controller, request, body.root.memories)))
        outcome = controller.store(request, [body.root.to_store()])[0]
        if (refusal := refused(outcome)) is not None:
            raise refusal
        return answer(201 if outcome.outcome in NEW else 200, Receipt.of(outcome))

    @api.user_route("GET", "/memories", "List memories by filter and order")
    def list_memories(user_id: UserId, page: Annotated[ListInput, Query()]) -> PageOutput:
        found = controller.list_memories(user_id, page.to_filter(), page.limit, page.cursor, page.to_order())
        return PageOutput.of(user_id, found)

    @api.user_route("GET", "/memories/<memory_id>", "Read one memory, or one of its versions")
    def get(user_id: UserId, memory_id: str, which: Annotated[GetInput, Query()]) -> MemoryOutput | VersionOutput:
        if which.version is None:
            return memory_output(user_id, controller.get(user_id, memory_id))
        return version_output(user_id, controller.version(user_id, memory_id, which.version))

    @api.user_route("PATCH", "/memories/<memory_id>", "Change one memory")
    def update(
        user_id: UserId, memory_id: str, patch: MemoryPatch, key: IdempotencyKey = None, seen: IfMatch = None
    ) -> Receipt:
        request = api.write_request(user_id, key)
        return Receipt.of(controller.update(request, memory_id, patch.to_patch(), version_of(seen)))

    @api.user_route("DELETE", "/memories/<memory_id>", "Delete one memory, or purge it")
    def delete(
        user_id: UserId,
        memory_id: str,
        how: Annotated[DeleteInput, Query()],
        key: IdempotencyKey = None,
        seen: IfMatch = None,
    ) -> Receipt:
        remove = controller.purge if how.purge else controller.delete
        return Receipt.of(remove(api.write_request(user_id, key), memory_id, version_of(seen)))

    @api.user_route("POST", "/search", "Find the memories that matter for a query")
    def search(user_id: UserId, query: SearchInput) -> SearchOutput:
        return SearchOutput.of(user_id, controller.search(user_id, query.to_query()), explains=query.explain)

    @api.user_route("POST", "/context", "Render them into a prompt block")
    def context(user_id: UserId, query: ContextInput) -> ContextOutput:
        return ContextOutput.of(controller.context(user_id, query.to_query(), query.token_budget))

    @api.user_route("GET", "/stats", "Count a user's memories")
    def stats(user_id: UserId) -> StatsOutput:
        return StatsOutput.of(controller.stats(user_id))

    _add_undoing(api, controller)
    _add_trail(api, controller)

    @api.get("/health", summary="Tell that the service is up")
    def health() -> HealthOutput:
        return HealthOutput(status="ok", version=recollect.__version__)

    api.describe(title="Recollect", version=recollect.__version__)
    return api


def _add_undoing(api: Api, controller: MemoryController) -> None:
    @api.user_route("POST", "/memories/<memory_id>/restore", "Bring back an earlier version, also after a delete")
    def restore(user_id: UserId, memory_id: str, body: RestoreInput, key: IdempotencyKey = None) -> Receipt:
        return Receipt.of(controller.restore(api.write_request(user_id, key), memory_id, body.version))

    @api.user_route("POST", "/memories/<memory_id>/unmerge", "Take apart what the present version merged")
    def unmerge(user_id: UserId, memory_id: str, key: IdempotencyKey = None) -> ReceiptsOutput:
        return ReceiptsOutput.of(controller.unmerge(api.write_request(user_id, key), memory_id))

    @api.user_route("POST", "/memories/<memory_id>/resolve", "Settle a conflict with another memory")
    def resolve(user_id: UserId, memory_id: str, body: ResolveInput, key: IdempotencyKey = None) -> ReceiptsOutput:
        request = api.write_request(user_id, key)
        return ReceiptsOutput.of(controller.resolve(request, memory_id, body.other_id, body.resolution))


def _add_trail(api: Api, controller: MemoryController) -> None:
    @api.user_route("GET", "/memories/<memory_id>/versions", "List the versions of a memory, also of a deleted one")
    def versions(user_id: UserId, memory_id: str, page: Annotated[VersionsInput, Query()]) -> VersionsOutput:
        return VersionsOutput.of(user_id, controller.versions(user_id, memory_id, page.limit, page.cursor))

    @api.user_route("GET", "/events", "List what was changed, when, by whom and why")
    def events(user_id: UserId, page: Annotated[EventsInput, Query()]) -> EventsOutput:
        is_descending = page.direction == "desc"
        found = controller.events(user_id, page.limit, page.cursor, page.memory_id, is_descending=is_descending)
        return EventsOutput.of(found)

    @api.user_route("DELETE", "", "Erase the user; on 202 call again until it is done", 202)
    def erase(user_id: UserId, how: Annotated[EraseInput, Query()]) -> Response[ErasureOutput]:
        erasure = controller.count_erasable(user_id) if how.dry_run else controller.erase(user_id)
        return answer(202 if erasure.state is ErasureState.ERASING else 200, ErasureOutput.of(erasure))


def _make_app(report: Callable[[Exception], None]) -> Api:
    return create_app(wiring.memory_controller(Settings.from_env()), report)


lambda_handler = lambda_entrypoint("api", _make_app)
