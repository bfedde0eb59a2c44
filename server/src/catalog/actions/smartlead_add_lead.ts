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
  block_count: Count,
  unsubscribed_leads: z.array(z.unknown()).nullish(),
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

/** Returns why a lead was not added, which Smartlead reports by counts, or null. */
function findFault(added: Added): string | null {
  if (added.is_lead_limit_exhausted) return 'the limit of leads of the plan is used up'
  if ((added.invalid_email_count ?? 0) > 0) return 'the address is not valid'
  if ((added.unsubscribed_leads?.length ?? 0) > 0) return 'the lead has unsubscribed'
  if ((added.block_count ?? 0) > 0) return 'the address is on the block list'
  const taken = [added.total_leads, added.upload_count, added.already_added_to_campaign]
  return taken.some((count) => (count ?? 0) > 0) ? null : 'the lead was not taken, and no reason is given'
}
