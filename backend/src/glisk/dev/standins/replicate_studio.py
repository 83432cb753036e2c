"""Where predictions run: each starts, ends and tells of it when its plan says so, or when it is stopped."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from glisk.dev.standins.base import Standin
from glisk.dev.standins.replicate_files import File, Shelf
from glisk.dev.standins.replicate_prediction import Plan, Prediction, Status, shown
from glisk.dev.standins.timeline import A_SECOND
from glisk.dev.standins.webhooks import Courier, Parcel, an_id


class Studio:
    def __init__(self, standin: Standin[Plan], shelf: Shelf, courier: Courier) -> None:
        self.standin, self.timeline, self.shelf, self.courier = standin, standin.timeline, shelf, courier
        self.clear()

    def clear(self) -> None:
        self.predictions: dict[str, Prediction] = {}
        self.in_flight = self.most_in_flight = 0
        self.held_back: dict[str, list[Parcel]] = {}

    def take(self, prediction: Prediction) -> None:
        self.predictions[prediction.id] = prediction
        self.standin.made.add(prediction.seed, prediction.prompt)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.plan(prediction.created_at, prediction.plan.starts_after_s, partial(self.start, prediction))
        if prediction.deadline is not None:
            self.timeline.at(prediction.deadline, partial(self.expire, prediction))

    def plan(self, since: int, seconds: float | None, act: Callable[[], None]) -> None:
        if seconds is not None:
            self.timeline.at(since + round(seconds * A_SECOND), act)

    def start(self, prediction: Prediction) -> None:
        if prediction.status is not Status.STARTING:
            return
        if prediction.plan.ends_as is Status.ABORTED:
            self.end(prediction, Status.ABORTED)
            return
        prediction.status, prediction.started_at = Status.PROCESSING, self.timeline.now()
        prediction.logs = f"Using seed: {prediction.drawn_seed}\n"
        if prediction.plan.is_charged:
            prediction.is_charged = True
            self.standin.charged.add(prediction.seed, prediction.prompt)
        self.tell(prediction, "start", "logs")
        self.plan(self.timeline.now(), prediction.plan.runs_for_s, partial(self.finish, prediction))

    def finish(self, prediction: Prediction) -> None:
        if prediction.status is not Status.PROCESSING:
            return
        plan = prediction.plan
        if plan.error is not None or plan.ends_as is not Status.SUCCEEDED:
            prediction.error = plan.error
            self.end(prediction, Status.FAILED if plan.error is not None else plan.ends_as)
            return
        prediction.output = self.output(prediction)
        prediction.logs += "".join(drawing_logs(prediction))
        self.tell(prediction, "output")
        self.end(prediction, Status.SUCCEEDED)

    def cancel(self, prediction: Prediction) -> None:
        """One that has ended stays as it is."""
        if prediction.status is Status.STARTING:
            prediction.started_at = self.timeline.now()
        if not prediction.status.is_final:
            self.end(prediction, Status.CANCELED)

    def expire(self, prediction: Prediction) -> None:
        match prediction.status:
            case Status.STARTING:
                self.end(prediction, Status.ABORTED)
            case Status.PROCESSING:
                self.end(prediction, Status.CANCELED)
            case _:
                pass

    def end(self, prediction: Prediction, status: Status) -> None:
        prediction.status, prediction.completed_at = status, self.timeline.now()
        self.in_flight -= 1
        for watcher in prediction.watchers:
            watcher.set()
        if status is not Status.ABORTED:
            self.tell(prediction, "completed")

    def go_on(self, predictions: Iterable[Prediction], *, to_end: bool) -> None:
        """Not waiting for the time of their plans."""
        for prediction in predictions:
            self.start(prediction)
            if to_end:
                self.finish(prediction)

    def output(self, prediction: Prediction) -> object:
        if prediction.model.answers is not None:
            return words(prediction)
        kind = prediction.plan.output or ("list" if prediction.model.is_list else "string")
        wanted = int(prediction.input.get("num_outputs") or 1) if kind == "list" else 1
        files = [self.file(prediction, index) for index in range(max(0, wanted - prediction.plan.nsfw_dropped))]
        match kind:
            case "none":
                return None
            case "string":
                return files[0] if files else None
            case "list":
                return files

    def file(self, prediction: Prediction, index: int) -> str:
        if prediction.plan.output_as == "data":
            return self.shelf.as_data_uri(File(prediction, index))
        return self.shelf.put(prediction, index, self.standin.urls[-1])

    def tell(self, prediction: Prediction, *events: str) -> None:
        plan = prediction.plan
        if not prediction.webhook or plan.webhook == "never":
            return
        for event in events:
            if event in prediction.events:
                self.post(self.parcel(prediction, event), prediction, plan)

    def post(self, parcel: Parcel, prediction: Prediction, plan: Plan) -> None:
        if plan.webhook == "reversed" and not parcel.is_last:
            self.held_back.setdefault(prediction.id, []).append(parcel)
            return
        earlier = self.held_back.pop(prediction.id, [])
        for parcel_now in [parcel, *reversed(earlier)] * (2 if plan.webhook == "twice" else 1):
            self.timeline.at(parcel.first_at, partial(self.courier.send, parcel_now))

    def parcel(self, prediction: Prediction, event: str) -> Parcel:
        now = self.timeline.now()
        return Parcel(
            id=an_id(),
            url=prediction.webhook,
            event=event,
            body=msgspec.json.encode(shown(prediction, now, self.standin.urls[0])),
            first_at=now + round(prediction.plan.webhook_after_s * A_SECOND),
            is_last=event == "completed",
            order=prediction.order,
        )


def drawing_logs(prediction: Prediction) -> Iterable[str]:
    wanted, dropped = int(prediction.input.get("num_outputs") or 1), prediction.plan.nsfw_dropped
    for index in range(wanted - dropped, wanted):
        yield f"NSFW content detected in image {index}\n"
    yield f"Total safe images: {wanted - dropped} out of {wanted}\n"


def words(prediction: Prediction) -> object:
    """One by one, as a language model sends them."""
    said = prediction.plan.says
    if said is None and prediction.model.answers:
        return prediction.model.answers
    return re.findall(r"\s*\S+", prediction.prompt if said is None else said)
