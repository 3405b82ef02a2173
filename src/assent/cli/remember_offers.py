"""Offers of another mode that wait for a person, put in a terminal. Switches nothing by itself.

Where no server runs, a person says no in an agent program's own dialog, and nothing of ours is on the screen to put the
offer there."""

from __future__ import annotations

from assent.approval.escalation import MODE_WORDS, DenialTracker, Offer, SavedTally
from assent.contract.display import one_line
from assent.engine import journal
from assent.engine.memory import Memory

KEYS = {"plan": "p", "full_auto": "f"}


def show(offers: tuple[Offer, ...]) -> None:
    """Say which offers are open."""
    for offer in offers:
        print(f"{one_line(offer.runtime, 40) or 'a program'}, session {one_line(offer.session, 60)}: {offer.words}")
        for mode in offer.modes:
            if mode in KEYS:
                print(f"  {KEYS[mode]}  {mode}: {MODE_WORDS[mode]}")


def put(memory: Memory, tally: SavedTally, offer: Offer) -> str:
    """Put one offer to the person; return what came of it. Raises StoreError where it cannot be recorded."""
    show((offer,))
    try:
        key = input("  p, f, n to leave it as it is, nothing to decide later> ").strip().lower()
    except EOFError:
        key = ""
    mode = next((each for each in offer.modes if KEYS.get(each) == key), "")
    if not mode and key != "n":
        return "nothing was changed"
    if not tally.drop(offer):
        return "this offer is not open any more; nothing was changed"
    session = (offer.runtime, offer.session)
    if not mode:
        tally.change(session, DenialTracker.rejected, known=True)
        now, who = memory.clock(), memory.who
        memory.record(journal.of_offer(offer, time=now, rejected=True, who=who, channel="terminal"))
        return "nothing was changed"
    memory.choose_mode(offer.session, mode, who=memory.who, channel="terminal")
    tally.change(session, DenialTracker.accepted, known=True)
    return f"the mode of this session is `{mode}` now"
