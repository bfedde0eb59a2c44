-- What is left to launch of a run, {rows, launched, base, weight, at}: `rows` are the numbers of its rows that have no flight yet, a
-- multirange, so that a run can leave out those which another one is still to launch.
update runs set unlaunched = unlaunched - 'after' - 'until' || jsonb_build_object('rows', int8multirange(
    int8range((unlaunched->>'after')::bigint, (unlaunched->>'until')::bigint, '(]'))::text)
  where unlaunched is not null;
