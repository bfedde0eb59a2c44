-- Looked at once for each table of a statement. A pattern took forty microseconds each time, ten times what a length does; a
-- text of that length that is no uuid is refused by the conversion.
create or replace function loam_org() returns uuid language sql stable parallel safe as $$
  select case when length(current_setting('loam.org', true)) = 36
    then current_setting('loam.org', true)::uuid end
$$;
