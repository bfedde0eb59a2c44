-- What runs may cost that are started by the clock (a tick), and by deliveries (those of a day).
alter table schedules add column max_credits_millis bigint check (max_credits_millis >= 0);
alter table webhooks add column max_credits_millis bigint check (max_credits_millis >= 0);
