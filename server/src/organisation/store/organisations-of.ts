import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { isOpen } from './invitations.ts'

/** An organisation that an address belongs to, has to confirm, or is invited to. */
export type OrganisationOf = {
  org_id: string
  name: string
  role: string
  status: 'member' | 'unconfirmed' | 'invited'
  /** The member who invited, or an administrator to ask; null for a confirmed member. */
  vouched_by: string | null
}

/**
 * Lists confirmed memberships first, then those to be confirmed, then invitations; each group oldest first.
 */
export async function listOrganisationsOf(db: Db, email: string): Promise<OrganisationOf[]> {
  const { rows } = await sql<OrganisationOf>`
    select org_id, name, role, status, vouched_by from (
      select m.org_id, m.role, case when m.confirmed_at is null then 'unconfirmed' else 'member' end as status,
        case when m.confirmed_at is null then (
          select a.email from members a where a.org_id = m.org_id and a.role = 'admin' and a.email <> m.email
          order by a.joined_at, a.member_id limit 1) end as vouched_by,
        case when m.confirmed_at is null then 1 else 0 end as place, m.joined_at as since
      from members m where m.email = ${email}
      union all
      select org_id, role, 'invited', invited_by, 2, created_at from invitations where email = ${email} and ${isOpen}
    ) found join organisations using (org_id) order by place, since, org_id`.execute(db)
  return rows
}
