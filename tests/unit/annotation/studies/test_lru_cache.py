from concurrent.futures import ThreadPoolExecutor

from annotation.studies.lru_cache import LRUCache


def test_what_was_not_used_for_longest_goes_first() -> None:
    kept: LRUCache[str, int] = LRUCache(2)
    kept.put("a", 1)
    kept.put("b", 2)
    assert kept.get("a") == 1
    kept.put("c", 3)
    assert (kept.get("a"), kept.get("b"), kept.get("c")) == (1, None, 3)


def test_the_limit_is_on_the_sizes_together() -> None:
    kept: LRUCache[str, bytes] = LRUCache(10, len)
    kept.put("a", b"1234")
    kept.put("b", b"123456")
    assert kept.get("a") == b"1234"
    kept.put("a", b"12345")   # grown: 5 + 6 is too much, and b was not used since
    assert (kept.get("a"), kept.get("b")) == (b"12345", None)
    assert kept.put("c", b"x" * 11) == b"x" * 11   # given back, though it is too large to keep
    assert kept.get("c") is None and kept.get("a") == b"12345"


def test_many_threads_leave_it_within_its_limit() -> None:
    kept: LRUCache[int, bytes] = LRUCache(100, len)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: (kept.put(n % 37, b"x" * (n % 9)), kept.get(n % 11)), range(4000)))
    assert sum(len(kept.get(n) or b"") for n in range(37)) <= 100
