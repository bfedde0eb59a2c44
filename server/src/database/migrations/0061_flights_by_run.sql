-- By the run alone, which names its organisation. While flights are few, or counted as none, an index that begins with the
-- organisation seems as good a way to the flight of a row as its primary key, and leads to all flights of the organisation.
drop index flights_by_run;
create index flights_by_run on flights (run_id);
