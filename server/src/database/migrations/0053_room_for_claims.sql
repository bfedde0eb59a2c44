-- A claim is an update. With room for a second version of every flight in its page none of them touches an index; at 60% that
-- was true of two in three.
alter table flights set (fillfactor = 48);
