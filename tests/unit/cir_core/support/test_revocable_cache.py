from cir_core.support.revocable_cache import RevocableCache


def test_values_end_with_the_cache_s_seconds_or_their_own() -> None:
    now = [0.0]
    cache: RevocableCache[str, int] = RevocableCache(3, 10, lambda: now[0])
    cache.put("long", 1, cache.changes, seconds=60)
    cache.put("short", 2, cache.changes, seconds=5)
    now[0] = 4.9
    assert (cache.get("long"), cache.get("short")) == (1, 2)
    now[0] = 5.0
    assert (cache.get("long"), cache.get("short")) == (1, None)
    now[0] = 10.0
    assert cache.get("long") is None


def test_what_was_not_used_for_longest_goes_first() -> None:
    cache: RevocableCache[str, int] = RevocableCache(2, 10)
    for key in "ab":
        cache.put(key, 1, cache.changes)
    assert cache.get("a") == 1
    cache.put("c", 1, cache.changes)
    assert [cache.get(key) for key in "abc"] == [1, None, 1]


def test_what_was_read_before_the_cache_was_cleared_is_not_kept() -> None:
    cache: RevocableCache[str, int] = RevocableCache(2, 10)
    before = cache.changes
    cache.put("a", 1, before)
    cache.clear()
    assert cache.get("a") is None
    cache.put("a", 1, before)
    assert cache.get("a") is None
    cache.put("a", 2, cache.changes)
    assert cache.get("a") == 2
