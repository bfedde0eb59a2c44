-- Comments on rows, and on one cell or value of a row: an action, or a variable. Of an input `variable` is the path behind its
-- column, so that it follows a renamed input; of an output it is the whole token. Deleted with the row.
create table comments (
  org_id uuid not null,
  sheet_id uuid not null,
  comment_id uuid not null,
  row_id uuid not null,
  action text,
  input_column integer,
  variable text,
  content text not null,
  mentions text[] not null default '{}',
  author_id uuid,
  author text not null,
  made_at timestamptz not null default now(),
  edited_at timestamptz,
  resolved_at timestamptz,
  resolved_by text,
  primary key (org_id, comment_id),
  foreign key (org_id, sheet_id) references sheets on delete cascade,
  foreign key (org_id, author_id) references members on delete set null (author_id)
);
create index comments_by_sheet on comments (org_id, sheet_id, comment_id);
create index comments_by_row on comments (org_id, row_id, comment_id);
create index comments_by_author on comments (org_id, author_id);
-- The open comments of a page of rows: the index alone answers for rows without any.
create index comments_open on comments (org_id, row_id) where resolved_at is null;
call loam_protect('comments');

-- Comments of deleted rows, as PostgreSQL prints them, and what people changed in them.
alter table deleted_rows add column comments text[] not null default '{}', add column changes text[] not null default '{}';

-- Mails to be sent over the installation's mail server, at least once each.
create table mail_outbox (
  org_id uuid not null references organisations on delete cascade,
  message_id uuid not null,
  email text not null,
  subject text not null,
  content text not null,
  tries integer not null default 0,
  -- Null: given up. A mail that was sent has no record.
  due_at timestamptz default now(),
  error text,
  made_at timestamptz not null default now(),
  primary key (org_id, message_id)
);
create index mail_outbox_due on mail_outbox (due_at) where due_at is not null;
call loam_protect('mail_outbox');
