-- Values of an import that do not fit the type of their input (D79), written with the rows of each chunk:
-- [{name, type, count, places}], where a place counts the rows of the import from 0.
alter table imports add column mismatches jsonb not null default '[]';
