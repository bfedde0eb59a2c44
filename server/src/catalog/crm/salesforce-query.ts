import { z } from 'zod'
import type { CellContext } from '../provider/context.ts'
import type { ProviderCallResult } from '../provider/single-provider.ts'
import type { FieldValues } from './field-values.ts'
import { askSalesforce, SALESFORCE_API } from './salesforce.ts'
import { printQuery, type Query, requote, toConditions } from './soql.ts'

const Records = z.object({ records: z.array(z.looseObject({ Id: z.string() })) })
export type Records = z.infer<typeof Records>

/**
 * Searches for records by values. Repeats the query with other quotes if Salesforce reports that a field needs them.
 */
export async function queryRecords(
  query: Omit<Query, 'conditions'> & { values: FieldValues },
  connection: string | undefined,
  context: CellContext,
): Promise<ProviderCallResult<Records>> {
  for (let conditions = toConditions(query.values); ;) {
    const q = printQuery({ ...query, conditions })
    const request = { path: `${SALESFORCE_API}/query`, query: { q } }
    const answer = await askSalesforce({ connection, request, schema: Records }, context)
    if (answer.ok) return answer
    const { refusal } = answer
    const next = refusal?.kind === 'ineligible' ? requote(conditions, refusal.message) : null
    if (next === null) return answer
    conditions = next
  }
}
