import { z } from 'zod'
import { defineAction } from '../define.ts'
import { done, failed } from '../outcome.ts'
import { output } from '../outputs.ts'
import { askProvider } from '../provider/single-provider.ts'
import { smartlead } from '../providers/smartlead/provider.ts'
import { leadInputs, readCustomFields, readLead } from '../push/campaigns.ts'

// api.smartlead.ai/reference/add-leads-to-a-campaign-by-id (2026-11). A lead is identified by its address: adding it
// again adds nothing.
const Count = z.number().nullish()
const Added = z.object({
  upload_count: Count,
  total_leads: Count,
  already_added_to_campaign: Count,
  invalid_email_count: Count,
  inserted_count: Count,
  block_count: Count,
  blocked_count: Count,
  bounce_count: Count,
  duplicate_count: Count,
  lead_import_stopped_count: Count,
  skipped_in_other_campaign_count: Count,
  /** A list in one form of the reply, a number in the other. */
  unsubscribed_leads: z.union([z.array(z.unknown()).transform((list) => list.length), z.number()]).nullish(),
  is_lead_limit_exhausted: z.boolean().nullish(),
})
type Added = z.infer<typeof Added>
const Lead = z.object({ id: z.union([z.number(), z.string()]).transform(String).nullish() }).nullable()

const CAMPAIGN_IDS = { pattern: /^\d+$/, described: 'the id of a campaign, a number' }

export default defineAction({
  id: 'smartlead_add_lead',
  name: 'Add Smartlead lead',
  description: 'Adds a lead to a Smartlead campaign, once, however often the row runs.',
  category: 'messages',
  synonyms: ['campaign', 'cold email', 'outreach', 'sequence', 'outbound'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: leadInputs(smartlead, 'Smartlead campaigns'),
  outputs: {
    id: output.text('The id of the lead; empty if Smartlead does not return it yet.'),
    created: output.boolean('True if the lead was not in the campaign before.'),
  },
  async run({ inputs, context }) {
    const { connection } = inputs
    const read = readLead(inputs, CAMPAIGN_IDS)
    if (!read.ok) return read.outcome
    const { campaign, email } = read
    const lead = {
      email,
      first_name: inputs.first_name,
      last_name: inputs.last_name,
      company_name: inputs.company_name,
      website: inputs.website,
      phone_number: inputs.phone,
      custom_fields: readCustomFields(inputs.custom_fields),
    }
    const settings = {
      ignore_global_block_list: false,
      ignore_unsubscribe_list: false,
      ignore_duplicate_leads_in_other_campaign: false,
    }
    const request = {
      method: 'POST',
      path: `/campaigns/${campaign}/leads`,
      json: { lead_list: [lead], settings },
    } as const
    const answer = await askProvider({ provider: smartlead, connection, request, schema: Added }, context)
    if (!answer.ok) return answer.outcome
    const fault = findFault(answer.body)
    if (fault !== null) return failed(`Smartlead: ${fault}`)
    const created = (answer.body.already_added_to_campaign ?? 0) === 0
    // The reply does not contain the lead's id, so it is read. Without it the lead is in the campaign all the same.
    const asked = { path: '/leads/', query: { email } }
    const found = await askProvider(
      { provider: smartlead, connection, request: asked, schema: Lead },
      context,
    )
    const id = found.ok ? (found.body?.id ?? null) : null
    const provenance = [...answer.provenance, ...(found.ok ? found.provenance : [])]
    return done({ id, created }, provenance)
  },
})

const FAULTS: readonly [keyof Added, string][] = [
  ['invalid_email_count', 'the address is not valid'],
  ['unsubscribed_leads', 'the lead has unsubscribed'],
  ['block_count', 'the address is on the block list'],
  ['blocked_count', 'the address is on the block list'],
  ['bounce_count', 'mail to the address has bounced before'],
  ['skipped_in_other_campaign_count', 'the lead is in another campaign'],
  ['duplicate_count', 'the lead is in another campaign'],
  ['lead_import_stopped_count', 'the import of leads is stopped in Smartlead'],
]

/**
 * Returns why a lead was not added, which Smartlead reports by counts, or null. `upload_count` also counts refused leads,
 * and one form of the reply counts them in `total_leads`.
 */
function findFault(added: Added): string | null {
  if (isCounted(added.already_added_to_campaign)) return null
  if (added.is_lead_limit_exhausted) return 'the limit of leads of the plan is used up'
  const fault = FAULTS.find(([name]) => isCounted(added[name]))
  if (fault !== undefined) return `${fault[1]} (${fault[0]})`
  return isCounted(added.total_leads) || isCounted(added.inserted_count)
    ? null
    : 'the lead was not taken, and no reason is given'
}

const isCounted = (count: unknown): boolean => typeof count === 'number' && count > 0
