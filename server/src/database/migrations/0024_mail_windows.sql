-- Recipients of mails that an organisation sent over the installation's own server in this hour.
create table mail_windows (
  org_id uuid primary key references organisations on delete cascade,
  hour timestamptz not null,
  used integer not null
);
call loam_protect('mail_windows');
