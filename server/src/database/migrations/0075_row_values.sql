-- The value of a text that is JSON, or null. Other values stay as they are (D75). A text that cannot be read makes a subtransaction,
-- which a parallel plan must not.
create function loam_open(value jsonb) returns jsonb language plpgsql immutable strict parallel unsafe as $$
declare
  content text;
begin
  if jsonb_typeof(value) <> 'string' then return value; end if;
  content := value #>> '{}';
  if content !~ '^\s*[\[{]' then return null; end if;
  return content::jsonb;
exception when data_exception or program_limit_exceeded then
  return null;
end
$$;

-- The value at the end of a path of keys and places, or null if the path leads nowhere. A key applied to a list reads that key of
-- each item. `whole` is a key that goes before the path (D75). As readOutput in server/src/catalog/chain/value-path.ts.
create function loam_at(value jsonb, steps jsonb, whole text) returns jsonb
language plpgsql immutable parallel unsafe as $$
declare
  reached jsonb := case jsonb_typeof(value) when 'string' then loam_open(value) else value end;
  step jsonb;
  key text;
begin
  if whole is not null and jsonb_typeof(reached) = 'object' and reached ? whole then return reached -> whole; end if;
  if whole is not null and jsonb_typeof(reached) = 'array' and exists (
    select from jsonb_array_elements(reached) i where jsonb_typeof(i.value) = 'object' and i.value ? whole)
  then return loam_at(reached, jsonb_build_array(whole), null); end if;
  for place in 0 .. jsonb_array_length(steps) - 1 loop
    step := steps -> place;
    key := step #>> '{}';
    if jsonb_typeof(step) = 'number' then
      reached := case jsonb_typeof(reached) when 'array' then reached -> key::int end;
    else
      case jsonb_typeof(reached)
        when 'object' then reached := reached -> key;
        when 'array' then
          select coalesce(jsonb_agg(coalesce(case jsonb_typeof(i.item) when 'object' then i.item -> key end, 'null') order by i.n), '[]')
          into reached from jsonb_array_elements(reached) with ordinality as i (item, n);
        else return null;
      end case;
    end if;
    if reached is null then return null; end if;
  end loop;
  return reached;
end
$$;

-- The milliseconds since 1970 of an ISO 8601 date or date-time, or null. UTC without an offset. As parseInstant in contract/instant.ts.
create function loam_instant(moment text) returns double precision
language plpgsql immutable strict parallel safe as $$
declare
  part text[];
  year int;
  month int;
  day int;
  era int;
  days int;
begin
  if length(moment) not between 10 and 40 or substr(moment, 5, 1) <> '-' then return null; end if;
  part := regexp_match(moment, '^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[Tt ]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9](?:\.[0-9]{1,9})?))?(?:[Zz]|([+-])([01][0-9]|2[0-3]):?([0-5][0-9]))?)?$');
  if part is null then return null; end if;
  year := part[1]::int;
  month := part[2]::int;
  day := part[3]::int;
  if month not between 1 and 12 or day < 1 or day > (case
    when month = 2 then case when year % 4 = 0 and (year % 100 <> 0 or year % 400 = 0) then 29 else 28 end
    when month in (4, 6, 9, 11) then 30 else 31 end)
  then return null; end if;
  -- Counts days in years that begin in March, so that a leap day is the last one.
  if month <= 2 then year := year - 1; end if;
  era := floor(year / 400.0);
  year := year - era * 400;
  days := era * 146097 + year * 365 + year / 4 - year / 100 + (153 * (month + case when month > 2 then -3 else 9 end) + 2) / 5 + day - 1 - 719468;
  return days * 86400000.0 + coalesce(part[4]::int, 0) * 3600000 + coalesce(part[5]::int, 0) * 60000
    + coalesce(part[6]::double precision, 0) * 1000
    - (coalesce(part[8]::int, 0) * 60 + coalesce(part[9]::int, 0)) * 60000 * case when part[7] = '-' then -1 else 1 end;
end
$$;

-- The order of texts: that of the Unicode root collation, without case.
create collation loam_text (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
