"""The API: every route under /v1/users/{user_id}, and the open ones.

Rights: read and write items of the one table and objects of users; send messages to the one queue; with Bedrock
embeddings, invoke the one model; nothing else.
"""

from collections.abc import Callable
from functools import partial
from typing import Annotated

import recollect
from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Header, Query
from recollect import wiring
from recollect.controller import MemoryController
from recollect.erasure import ErasureState
from recollect.errors import Conflict, RecollectError
from recollect.http.api import Api, answer, answer_verbatim
from recollect.http.batch import refused, store_batch
from recollect.http.entrypoint import lambda_entrypoint
from recollect.http.operations import Verbatim
from recollect.maintaining import Maintainer
from recollect.schemas.fields import ETag, KeyText, PathMemoryId, UserId, version_of
from recollect.schemas.inputs import (
    BatchInput,
    ListInput,
    MemoryPatch,
    ResolveInput,
    RestoreInput,
    StoreInput,
)
from recollect.schemas.maintenance import MaintenanceInput, ReportOutput, ReportsInput, ReportsOutput
from recollect.schemas.outputs import (
    BatchOutput,
    HealthOutput,
    MemoryOutput,
    PageOutput,
    Receipt,
    ReceiptsOutput,
    StatsOutput,
    memory_output,
)
from recollect.schemas.recalling import ContextInput, ContextOutput, SearchInput, SearchOutput
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
from recollect.schemas.transcripts import (
    ContentInput,
    MemorySourceOutput,
    RemovalOutput,
    RemoveInput,
    SourceInput,
    TranscriptDetailOutput,
    TranscriptInput,
    TranscriptReceipt,
    TranscriptsInput,
    TranscriptsOutput,
    UploadInput,
    UploadOutput,
)
from recollect.settings import Settings
from recollect.transcribing import TranscriptController
from recollect.transcripts import Wanted

IdempotencyKey = Annotated[
    KeyText | None, Header(alias="Idempotency-Key", description="a repeat under the same key gets the same answer")
]
IfMatch = Annotated[
    ETag | None, Header(alias="If-Match", description='the version that you have seen, such as "3"; 412 if it changed')
]
MAINTENANCE_MS = 18_000  # of the 29 s that a request may take: what is begun by then takes a while
NEW = ("created", "superseded", "conflict")


CONTENT = {
    200: Verbatim("The bytes.", ("application/x-ndjson", "text/plain", "application/json")),
    307: Verbatim(
        "They are large: get them from `Location`, within minutes and without a token.", headers=("Location",)
    ),
}


def create_app(
    controller: MemoryController,
    transcripts: TranscriptController,
    maintainer: Maintainer,
    report: Callable[[Exception], None],
) -> Api:
    """Make the app: each route is a call and its answer; its docstring describes it to the API's readers."""
    api = Api(report, title="Recollect", version=recollect.__version__)
    _add_storing(api, controller)
    _add_changing(api, controller)
    _add_undoing(api, controller)
    _add_recalling(api, controller)
    _add_handing_over(api, transcripts)
    _add_transcripts(api, transcripts)
    _add_telling(api, controller)
    _add_maintenance(api, maintainer)

    @api.open_route("service", "GET", "/health")
    def health() -> HealthOutput:
        """Tell that the service is up."""
        return HealthOutput(status="ok", version=recollect.__version__)

    api.describe()
    return api


def _add_storing(api: Api, controller: MemoryController) -> None:
    route = partial(api.user_route, "memories")
    answers = {200: Receipt, 201: Receipt, 207: BatchOutput}

    @route(
        "POST", "/memories", answers=answers, example={"content": "Alice is allergic to peanuts", "tags": ["health"]}
    )
    def store(user_id: UserId, body: StoreInput, key: IdempotencyKey = None) -> Response[Receipt | BatchOutput]:
        """Store one memory, or a batch.

        What is new is reconciled with what is there, by rules. 201: it is `created`, has `superseded` another, or is
        in `conflict` with one. 200: it is `unchanged` (something says the same already), `merged` (it adds detail) or
        `revived` (an archived memory says the same).
        A batch is answered item by item with 207: one that is not valid does not keep the others from being stored.
        While the embedder does not answer, what is new is stored as `pending`: found by its words, reconciled with
        nothing but the same statement, until maintenance embeds it; only `on_similar: reject` then answers 503.
        """
        request = api.write_request(user_id, key)
        if isinstance(body.root, BatchInput):
            return answer(207, BatchOutput(results=store_batch(controller, request, body.root.memories)))
        outcome = controller.store(request, [body.root.to_store()])[0]
        if (refusal := refused(outcome)) is not None:
            raise refusal
        return answer(201 if outcome.outcome in NEW else 200, Receipt.of(outcome))

    @route("GET", "/memories")
    def list_memories(user_id: UserId, page: Annotated[ListInput, Query()]) -> PageOutput:
        """List memories by filter and order."""
        found = controller.list_memories(user_id, page.to_filter(), page.limit, page.cursor, page.to_order())
        return PageOutput.of(user_id, found)


def _add_changing(api: Api, controller: MemoryController) -> None:
    route = partial(api.user_route, "memories")

    @route("GET", "/memories/<memory_id>")
    def get(
        user_id: UserId, memory_id: PathMemoryId, which: Annotated[GetInput, Query()]
    ) -> MemoryOutput | VersionOutput:
        """Read one memory, or one of its versions."""
        if which.version is None:
            return memory_output(user_id, controller.get(user_id, memory_id))
        return version_output(user_id, controller.version(user_id, memory_id, which.version))

    @route("PATCH", "/memories/<memory_id>", example={"importance": 0.9, "metadata": {"team": "green"}})
    def update(
        user_id: UserId, memory_id: PathMemoryId, patch: MemoryPatch, key: IdempotencyKey = None, seen: IfMatch = None
    ) -> Receipt:
        """Change one memory."""
        request = api.write_request(user_id, key)
        return Receipt.of(controller.update(request, memory_id, patch.to_patch(), version_of(seen)))

    @route("DELETE", "/memories/<memory_id>")
    def delete(
        user_id: UserId,
        memory_id: PathMemoryId,
        how: Annotated[DeleteInput, Query()],
        key: IdempotencyKey = None,
        seen: IfMatch = None,
    ) -> Receipt:
        """Delete one memory, or purge it.

        What is deleted is hidden at once and can be restored. What is purged cannot: its text is gone.
        """
        remove = controller.purge if how.purge else controller.delete
        return Receipt.of(remove(api.write_request(user_id, key), memory_id, version_of(seen)))


def _add_undoing(api: Api, controller: MemoryController) -> None:
    route = partial(api.user_route, "memories")

    @route("GET", "/memories/<memory_id>/versions")
    def versions(user_id: UserId, memory_id: PathMemoryId, page: Annotated[VersionsInput, Query()]) -> VersionsOutput:
        """List the versions of a memory, also of a deleted one."""
        return VersionsOutput.of(user_id, controller.versions(user_id, memory_id, page.limit, page.cursor))

    @route("POST", "/memories/<memory_id>/restore")
    def restore(user_id: UserId, memory_id: PathMemoryId, body: RestoreInput, key: IdempotencyKey = None) -> Receipt:
        """Bring back an earlier version, also after a delete."""
        return Receipt.of(controller.restore(api.write_request(user_id, key), memory_id, body.version))

    @route("POST", "/memories/<memory_id>/unmerge")
    def unmerge(user_id: UserId, memory_id: PathMemoryId, key: IdempotencyKey = None) -> ReceiptsOutput:
        """Take apart what the present version merged."""
        return ReceiptsOutput.of(controller.unmerge(api.write_request(user_id, key), memory_id))

    @route("POST", "/memories/<memory_id>/resolve")
    def resolve(
        user_id: UserId, memory_id: PathMemoryId, body: ResolveInput, key: IdempotencyKey = None
    ) -> ReceiptsOutput:
        """Settle a conflict with another memory."""
        request = api.write_request(user_id, key)
        return ReceiptsOutput.of(controller.resolve(request, memory_id, body.other_id, body.resolution))


def _add_recalling(api: Api, controller: MemoryController) -> None:
    route = partial(api.user_route, "recall")
    question = {"query": "What should we cook for Alice?", "filter": {"field": "tags", "contains": "health"}}

    @route("POST", "/search", example={**question, "k": 5})
    def search(user_id: UserId, query: SearchInput) -> SearchOutput:
        """Find the memories that matter for a query.

        Archived ones are found if the filter asks for their status. What is found counts as used, and what was archived
        is active from then on, unless `reinforce` is false. A query that names a time ("last week", "in May", "before
        the move") or an actor prefers the memories from then, or theirs, and leaves none out. `explain_ids` asks of up
        to ten memories why they did not come back.
        """
        return SearchOutput.of(
            user_id, controller.search(user_id, query.to_query(), api.subject), explains=query.explain
        )

    @route("POST", "/context", example={**question, "token_budget": 500})
    def context(user_id: UserId, query: ContextInput) -> ContextOutput:
        """Render the memories that matter for a query into a prompt block."""
        return ContextOutput.of(controller.context(user_id, query.to_query(), query.token_budget, api.subject))


def _add_handing_over(api: Api, transcripts: TranscriptController) -> None:
    route = partial(api.user_route, "transcripts")
    messages = [
        {"role": "user", "name": "Alice", "content": "I moved to Lisbon last week."},
        {"role": "assistant", "content": "How do you like it?"},
    ]

    @route(
        "POST",
        "/transcripts",
        answers={200: TranscriptReceipt, 202: TranscriptReceipt},
        example={"session_id": "2026-05-01/7", "messages": messages},
    )
    def hand_over(user_id: UserId, body: TranscriptInput, key: IdempotencyKey = None) -> Response[TranscriptReceipt]:
        """Hand over a conversation, or what was added to it.

        It is kept as it is, and becomes memories that cite it. 202: kept, and its turns can be found at once unless
        there are very many; the rest follows. 200: nothing is left to do. Messages that were sent before change
        nothing: by their `id`, else by what they say where the session ends or begins; `first` tells the place. Without
        a session each request makes a transcript, and one more only under another `Idempotency-Key`.
        """
        posted = transcripts.post(user_id, body.to_whose(key), body.to_given(transcripts.now_ms()), body.wait)
        return answer(200 if posted.is_settled else 202, TranscriptReceipt.of(posted))

    @route(
        "POST",
        "/transcripts/uploads",
        answers={201: UploadOutput, 409: Conflict},
        example={"size": 11, "sha256": "uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=", "format": "text"},
    )
    def upload(user_id: UserId, body: UploadInput) -> Response[UploadOutput]:
        """Ask for a place to put a large conversation.

        PUT the bytes to `url` with exactly these `headers`. The transcript waits for them.
        """
        given = body.to_given(transcripts.now_ms())
        return answer(201, UploadOutput.of(transcripts.await_upload(user_id, body.to_whose(), given, body.to_upload())))

    @route(
        "POST",
        "/transcripts/<transcript_id>/redrive",
        answers={200: TranscriptReceipt, 202: TranscriptReceipt, 409: Conflict},
    )
    def redrive(user_id: UserId, transcript_id: PathMemoryId) -> Response[TranscriptReceipt]:
        """Try again what has failed or was deferred.

        409: there is nothing to work on.
        """
        posted = transcripts.redrive(user_id, transcript_id)
        return answer(200 if posted.is_settled else 202, TranscriptReceipt.of(posted))


def _add_transcripts(api: Api, transcripts: TranscriptController) -> None:
    route = partial(api.user_route, "transcripts")

    @route("GET", "/transcripts")
    def list_transcripts(user_id: UserId, page: Annotated[TranscriptsInput, Query()]) -> TranscriptsOutput:
        """List transcripts, newest first.

        A page may hold fewer than asked for, even none, while there is a cursor.
        """
        found = transcripts.list_transcripts(
            user_id, page.limit, page.cursor, Wanted(page.session_id, page.agent_id, page.status)
        )
        return TranscriptsOutput.of(user_id, found)

    @route("GET", "/transcripts/<transcript_id>")
    def get_transcript(user_id: UserId, transcript_id: PathMemoryId) -> TranscriptDetailOutput:
        """Tell what became of a transcript."""
        return TranscriptDetailOutput.of(user_id, transcripts.get(user_id, transcript_id))

    @route("GET", "/transcripts/<transcript_id>/content", answers=CONTENT)
    def get_content(
        user_id: UserId, transcript_id: PathMemoryId, which: Annotated[ContentInput, Query()]
    ) -> Response[bytes]:
        """Get what was handed over, byte by byte.

        Posted messages come as one line of JSON each.
        """
        content = transcripts.content(user_id, transcript_id, which.part)
        if content.url is not None:
            return answer_verbatim(307, content.media_type, location=content.url)
        return answer_verbatim(200, content.media_type, content.data)

    @route("DELETE", "/transcripts/<transcript_id>", answers={200: RemovalOutput, 202: RemovalOutput, 409: Conflict})
    def delete_transcript(
        user_id: UserId, transcript_id: PathMemoryId, how: Annotated[RemoveInput, Query()]
    ) -> Response[RemovalOutput]:
        """Delete a transcript, and with `cascade` the memories that are from it alone.

        On 202 send the same again until it is done.
        """
        request = api.write_request(user_id, None)
        removal = transcripts.delete(request, transcript_id, cascade=how.cascade, purge=how.purge)
        return answer(200 if removal.is_done else 202, RemovalOutput.of(removal))

    @api.user_route("memories", "GET", "/memories/<memory_id>/source")
    def source(user_id: UserId, memory_id: PathMemoryId, how: Annotated[SourceInput, Query()]) -> MemorySourceOutput:
        """Show the messages that a memory is from, and those around them."""
        return MemorySourceOutput.of(memory_id, transcripts.source(user_id, memory_id, how.around))


def _add_telling(api: Api, controller: MemoryController) -> None:
    route = partial(api.user_route, "user")

    @route("GET", "/stats")
    def stats(user_id: UserId) -> StatsOutput:
        """Count a user's memories."""
        return StatsOutput.of(controller.stats(user_id))

    @route("GET", "/events")
    def events(user_id: UserId, page: Annotated[EventsInput, Query()]) -> EventsOutput:
        """List what was changed, when, by whom and why."""
        is_descending = page.direction == "desc"
        found = controller.events(user_id, page.limit, page.cursor, page.memory_id, is_descending=is_descending)
        return EventsOutput.of(found)

    @route("DELETE", "", answers={200: ErasureOutput, 202: ErasureOutput})
    def erase(user_id: UserId, how: Annotated[EraseInput, Query()]) -> Response[ErasureOutput]:
        """Erase the user.

        On 202 call again until it is done; the receipt comes with 200.
        """
        erasure = controller.count_erasable(user_id) if how.dry_run else controller.erase(user_id)
        return answer(202 if erasure.state is ErasureState.ERASING else 200, ErasureOutput.of(erasure))


def _add_maintenance(api: Api, maintainer: Maintainer) -> None:
    route = partial(api.user_route, "user")

    @route("POST", "/maintenance", example={"dry_run": True})
    def maintain(user_id: UserId, body: MaintenanceInput) -> ReportOutput:
        """Maintain a user now, whether due or not.

        It may run at any time, and twice at once; what is left when the time is over is done later. A step that fails
        does not stop the others.
        """
        deadline_ms = maintainer.now_ms() + MAINTENANCE_MS
        return ReportOutput.of(
            maintainer.run(user_id, deadline_ms, body.steps, is_forced=body.force, is_dry_run=body.dry_run)
        )

    @route("GET", "/maintenance")
    def list_reports(user_id: UserId, page: Annotated[ReportsInput, Query()]) -> ReportsOutput:
        """List what runs of maintenance did, newest first.

        Reports are kept for 90 days; of runs in a row that found nothing to do, the last one.
        """
        return ReportsOutput.of(maintainer.list_reports(user_id, page.limit, page.cursor))


def _make_app(report: Callable[[Exception], None]) -> Api:
    settings = Settings.from_env()
    controller = wiring.memory_controller(settings)
    maintainer = wiring.maintainer(settings, controller, lambda _, error: _report_bug(report, error))
    return create_app(controller, wiring.transcript_controller(settings, controller), maintainer, report)


def _report_bug(report: Callable[[Exception], None], error: Exception) -> None:
    if not isinstance(error, RecollectError):
        report(error)


lambda_handler = lambda_entrypoint("api", _make_app)
