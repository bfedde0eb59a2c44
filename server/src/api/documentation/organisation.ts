import type { Operations } from './operation.ts'

export const ORGANISATION: Operations = {
  'GET /user': {
    id: 'getUser',
    description: 'The person whose key this is, with role and organisation.',
  },
  'GET /user/knowledge': {
    id: 'getKnowledge',
    description:
      'The text about your organisation that prompts can draw on. Where there is none, `content` is null and `exists` false; never 404.',
  },
  'PUT /user/knowledge': {
    id: 'putKnowledge',
    description: 'Replaces the whole text, up to 256 KB. An empty text clears it.',
    body: { content: 'We sell scheduling software to dental clinics in Germany.' },
  },
  'GET /credits': {
    id: 'getCredits',
    description:
      'The balance of the organisation. `held` is set aside for what is under way and comes back where it is not spent; days and months are UTC.',
  },
  'GET /credits/ledger': {
    id: 'listLedger',
    description:
      'The books, newest entry first, up to 1,000 a page: `next_cursor` leads to the next one, until it is null. Amounts add up to the balance. `from` and `to` are inclusive. Members see what they started and what their workflows cost, admins everything. As CSV the cursor is in the header `X-Next-Cursor`, and the file is named after the days of its entries.',
    query: { type: 'charge', limit: '20' },
    writesCsv: true,
  },
  'GET /credits/prices': {
    id: 'getPrices',
    description:
      'The price list. `credits` of an action is its own price, beside which providers take theirs; on keys of your own providers and models cost nothing. A change makes a version; a run follows the version of when it was queued. `version` answers an earlier list.',
  },
  'GET /credits/usage': {
    id: 'getUsage',
    description:
      'What was spent and saved, in sums of days. `group_by` takes up to three groups: `day`, `month`, `workflow`, `sheet`, `action`, `provider`, `member`, `key`, `trigger`. Credits equal the ledger under every grouping, also of workflows that are gone. A cell counts at the provider that answered it; what several were paid for counts at each. Members see what they started and what their workflows cost, admins everything.',
    query: { group_by: 'day,workflow' },
    writesCsv: true,
  },
  'GET /credits/budgets': {
    id: 'listBudgets',
    description:
      'Budgets with what their present periods have come to. Members see those of the organisation, of themselves, of their keys and of their workflows.',
  },
  'POST /credits/budgets': {
    id: 'createBudget',
    description:
      'Limits what the organisation, a member, a key, a workflow or a sheet spends in each run, day, month or in all. `stop` refuses what would pass the limit, `warn` only tells. What the period has spent already counts. Thresholds are told once a period and limit, by mail and by a webhook signed as `send_webhook` signs, with `webhook_secret`.',
    body: { scope: 'organisation', period: 'month', limit: 5000, name: 'All of us' },
  },
  'GET /credits/budgets/{budget_id}': { id: 'getBudget', description: 'A budget with its present period.' },
  'PATCH /credits/budgets/{budget_id}': {
    id: 'updateBudget',
    description:
      'Changes name, limit, mode, thresholds, emails or webhook_url. A lower limit binds what is set aside next.',
    body: { limit: 8000 },
  },
  'DELETE /credits/budgets/{budget_id}': {
    id: 'deleteBudget',
    description: 'Removes a budget with its alerts. What it stopped can be resumed.',
  },
  'POST /org/members': {
    id: 'addMember',
    description:
      'Invites an address. The invitation takes a seat and is recorded also when no mail could be sent (`email_sent` is false); inviting it again is `ALREADY_INVITED` until Remove Member takes it back.',
    body: { email: 'ann@example.com', role: 'member' },
  },
  'DELETE /org/members': {
    id: 'removeMember',
    description:
      'Ends a membership, or the invitation of an address that has not joined. Keys of the member are revoked and credentials they shared are withdrawn. What this leaves without owner or connection is told in `warnings` and never blocks it. Nobody removes themself.',
    query: { email: 'bob@example.com' },
  },
}
