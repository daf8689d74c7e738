"""`shapes`: arrays that are kept as text, told by their names and shapes alone."""

FEW = 4  # of them are named


def shapes(arrays):
    """What a repr says of a dict of arrays, of which each has "shape" and "dtype", and numbers as a long text.

    >>> shapes({"weight": {"shape": [10, 5], "dtype": "float32", "values": "AAAA"}, "bias": {"shape": [10], "dtype": "float32"}})
    '{weight (10, 5) float32, bias (10,) float32}'
    >>> shapes({f"weight_{number}": {} for number in range(9)})
    '{weight_0, weight_1, weight_2, weight_3, 5 more}'
    """
    if not isinstance(arrays, dict):
        return repr(arrays)
    told = [" ".join([str(name), *_facts(array)]) for name, array in list(arrays.items())[:FEW]]
    return f"{{{', '.join([*told, *([f'{len(arrays) - FEW} more'] if len(arrays) > FEW else [])])}}}"


def _facts(array):
    if not isinstance(array, dict) or "shape" not in array:
        return []
    return str(tuple(array["shape"])), str(array.get("dtype"))
