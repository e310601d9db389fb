"""Hypothesis strategies for values that JSON can carry."""

from hypothesis import strategies as st

from runwright.eventstore.values import Json

#: Any text that encodes as UTF-8.
texts = st.text(st.characters(exclude_categories=["Cs"]))

#: Any number of JSON's, with the ones that writers of JSON get wrong.
numbers = (
    st.integers()
    | st.integers(min_value=2**63, max_value=2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([0, -0.0, 1e16, 5e-324, 1.7976931348623157e308])
)

#: Any value, nested up to a size that stays quick.
json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)
