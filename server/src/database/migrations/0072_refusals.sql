-- Fails the statement that calls it, with an error code of Loam's own: a statement of several parts can thus write all of
-- them or none. The function returns nothing, and has a type so that it can stand in an expression.
create function loam_refuse(code text, reason text) returns boolean language plpgsql as $$
begin
  raise exception using errcode = code, message = reason;
end
$$;
