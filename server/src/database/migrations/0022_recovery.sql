-- Among how many suspects a row that may have ended its worker is being tried; 0 when it is alone for the second time. Of the
-- cell at hand only: `settled` tells whether it still is.
alter table flights add column tested_in integer;
-- The advisory lock that a process holds as long as it lives and is connected.
alter table workers add column lock_key integer;
