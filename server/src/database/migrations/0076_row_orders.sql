-- The orders of rows that List Rows has made by `sort`, until 10 minutes after their last use. Places hold the numbers of rows.
create table row_orders (
  org_id uuid not null,
  order_id uuid not null,
  sheet_id uuid not null,
  view_id uuid,
  total bigint not null,
  expires_at timestamptz not null,
  primary key (org_id, order_id)
);
create index row_orders_by_time on row_orders (expires_at);
call loam_protect('row_orders');

-- As many places as half a page of the table holds, so that a page of rows reads few others.
create table row_order_pieces (
  org_id uuid not null,
  order_id uuid not null,
  piece integer not null,
  seqs bigint[] not null,
  primary key (org_id, order_id, piece)
);
alter table row_order_pieces alter seqs set storage plain;
call loam_protect('row_order_pieces');
