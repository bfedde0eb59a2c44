import type { Binding } from './secrets.ts'

type Of<Name extends string> = { org_id: string } & Record<Name, string>

/**
 * The bindings of sealed values: a value can be opened only in its own record. Changing a binding makes
 * stored values unreadable.
 */
export const invitationBinding = ({ org_id, email }: Of<'email'>): Binding => ({
  orgId: org_id,
  record: `invitation ${email}`,
})

export const webhookBinding = ({ org_id, sheet_id }: Of<'sheet_id'>): Binding => ({
  orgId: org_id,
  record: `webhook ${sheet_id}`,
})

export const envBinding = ({
  org_id,
  workflow_id,
  key,
}: Of<'key'> & { workflow_id: string | null }): Binding => ({
  orgId: org_id,
  record: `env ${workflow_id ?? 'organisation'} ${key}`,
})

export const connectionBinding = (
  { org_id, connection_id }: Of<'connection_id'>,
  part: 'fields' | 'token',
): Binding => ({ orgId: org_id, record: `connection ${connection_id} ${part}` })

export const sourceTokenBinding = ({ org_id, instance_id, kind }: Of<'instance_id' | 'kind'>): Binding => ({
  orgId: org_id,
  record: `source ${kind} ${instance_id}`,
})

export const budgetBinding = ({ org_id, budget_id }: Of<'budget_id'>): Binding => ({
  orgId: org_id,
  record: `budget ${budget_id}`,
})

export const inboxBinding = ({ org_id, instance_id }: Of<'instance_id'>): Binding => ({
  orgId: org_id,
  record: `inbox ${instance_id}`,
})

export const answerBinding = ({ org_id, member_id, key }: Of<'member_id' | 'key'>): Binding => ({
  orgId: org_id,
  record: `answer ${member_id} ${key}`,
})
