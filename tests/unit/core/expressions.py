"""Hypothesis strategies for cron expressions of the whole dialect but `H` and macros."""

from __future__ import annotations

from hypothesis import strategies as st

MONTHS = ["JAN", "feb", "Mar", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
WEEKDAYS = ["SUN", "mon", "Tue", "WED", "THU", "FRI", "SAT"]


def words(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    ordered = st.tuples(number, number).map(sorted)
    step = st.integers(1, high - low + 1)
    return st.one_of(
        st.just("*"),
        number.map(str),
        ordered.map(lambda pair: f"{pair[0]}-{pair[1]}"),
        step.map(lambda n: f"*/{n}"),
        st.tuples(number, step).map(lambda pair: f"{pair[0]}/{pair[1]}"),
        st.tuples(ordered, step).map(lambda pair: f"{pair[0][0]}-{pair[0][1]}/{pair[1]}"),
    )


def lists(word: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(word, min_size=1, max_size=3).map(",".join)


dates = st.one_of(
    st.sampled_from(["*", "?"]),
    lists(
        st.one_of(
            words(1, 31),
            st.sampled_from(["L", "LW"]),
            st.integers(0, 30).map(lambda n: f"L-{n}"),
            st.integers(1, 31).map(lambda n: f"{n}W"),
        )
    ),
)
weekday = st.one_of(st.integers(0, 7).map(str), st.sampled_from(WEEKDAYS))
weekdays = st.one_of(
    st.sampled_from(["*", "?", "MON-FRI", "sat,sun"]),
    lists(
        st.one_of(
            words(0, 6),
            weekday,
            st.tuples(weekday, st.integers(1, 5)).map(lambda pair: f"{pair[0]}#{pair[1]}"),
            weekday.map(lambda day: f"{day}L"),
            weekday.map(lambda day: f"{day}#L"),
        )
    ),
)
# With a `+`, both day fields must match.
weekdays = st.one_of(weekdays, weekdays.map(lambda text: f"+{text}"))
months = st.one_of(st.just("*"), lists(st.one_of(words(1, 12), st.sampled_from(MONTHS))))
seconds = st.one_of(st.just(""), st.integers(0, 59).map(str), st.just("*/20"), st.just("7,59"))

expressions = st.tuples(seconds, lists(words(0, 59)), lists(words(0, 23)), dates, months, weekdays).map(
    lambda fields: " ".join(fields).strip()
)

# The year comes seventh, so the second is there too.
years = st.one_of(st.just("*"), lists(words(1970, 2199)))
expressions_with_years = st.tuples(
    st.sampled_from(["0", "*/20"]), lists(words(0, 59)), lists(words(0, 23)), dates, months, weekdays, years
).map(" ".join)
