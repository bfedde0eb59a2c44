-- Members and changes are written and removed under the lock of their segment, so they need not be checked against it one by one.
alter table segment_members drop constraint segment_members_org_id_segment_id_fkey;
alter table segment_changes drop constraint segment_changes_org_id_segment_id_fkey;
