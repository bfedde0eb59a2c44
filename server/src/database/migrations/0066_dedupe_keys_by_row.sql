-- Keys of a row are found by its sheet and number alone. With organisation, sheet and columns in front this index seemed as good a way
-- to the rows with the same key as the primary key is, and a smaller one, until there were statistics: all keys of the sheet were read
-- for each row.
drop index dedupe_keys_by_row;
create index dedupe_keys_by_row on dedupe_keys (sheet_id, seq);
