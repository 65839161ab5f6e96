"""One submission from its pieces to what is graded: gathered, chosen, checked. Nothing is unpacked to a disk."""

from __future__ import annotations

from dataclasses import dataclass

from softmark.intake.choose import Main, choose, exact
from softmark.intake.companions import beside, summary
from softmark.intake.definitions import invisible
from softmark.intake.gather import Gathered, Piece, gather, look_through_zips
from softmark.intake.handed_in import HandedIn
from softmark.intake.misspellings import ending
from softmark.intake.source import Refusal, check
from softmark.intake.wanted import Wanted


@dataclass(frozen=True, slots=True)
class Submission:
    """Where the files of one submission lie; a `Source` of an entry."""

    pieces: tuple[Piece, ...]

    def load(self, wanted: Wanted) -> HandedIn:
        try:
            gathered = _everything(gather(self.pieces), wanted)
            main = choose(gathered, wanted)
            if main.graded_as == wanted.file:
                check(main.content)
        except Refusal as why:
            detail = (str(why.__cause__),) if why.__cause__ else ()
            return HandedIn(refusal=str(why), staff_notes=detail)
        return _handed_in(main, gathered)


@dataclass(frozen=True, slots=True)
class Refused:
    """A submission that could not even be looked into; a `Source` of an entry."""

    why: str

    def load(self, wanted: Wanted) -> HandedIn:
        return HandedIn(refusal=self.why)


def _everything(gathered: Gathered, wanted: Wanted) -> Gathered:
    """The files; if the wanted one is not among them, those in the zip that was handed in."""
    zips = [found for found in gathered.files if found.is_zip]
    if not zips or exact(gathered.files, wanted.file) or exact(gathered.files, wanted.notebook):
        return gathered
    inside = look_through_zips(zips)
    if not any(ending(found.name) for found in gathered.files + inside.files) and any(f.is_zip for f in inside.files):
        raise Refusal(f"{zips[0].shown} holds another archive: hand in {wanted.file} itself")
    others = [found for found in gathered.files if not found.is_zip]
    return Gathered(
        gathered.budget,
        files=sorted(others + inside.files, key=lambda found: (len(found.path), found.path)),
        folders=gathered.folders + inside.folders,
        left_out=gathered.left_out + inside.left_out,
    )


def _handed_in(main: Main, gathered: Gathered) -> HandedIn:
    others = beside(main.found, main.graded_as, gathered.files)
    told = {found.shown for found in main.told}
    left_out = [name for name in gathered.left_out + others.left_out if name not in told]
    return HandedIn(
        main=main.graded_as,
        files={main.graded_as: main.content, **others.files},
        notes=(*main.notes, *others.notes),
        staff_notes=(
            *(invisible(main.graded_as, main.content) if main.graded_as.endswith(".py") else ()),
            *others.staff_notes,
            *summary(left_out),
        ),
    )
