-- How often a member was delivered within a day, since when; null: since delivered_at.
alter table segment_deliveries add column counted integer not null default 1, add column counted_from timestamptz;
