import type { Operations } from './operation.ts'

export const ORGANISATION: Operations = {
  'GET /user': {
    id: 'getUser',
    description: 'The owner of the API key, with role and organisation.',
  },
  'GET /user/knowledge': {
    id: 'getKnowledge',
    description:
      'The text about your organisation that prompts can draw on. If there is no text, `content` is null and `exists` is false; never 404.',
  },
  'PUT /user/knowledge': {
    id: 'putKnowledge',
    description: 'Replaces the whole text, up to 256 KB. An empty text clears it.',
    body: { content: 'We sell scheduling software to dental clinics in Germany.' },
  },
  'GET /credits': {
    id: 'getCredits',
    description:
      'The balance of the organisation. `held` is reserved for work in progress; the part that is not spent is released. Days and months are UTC.',
  },
  'GET /credits/ledger': {
    id: 'listLedger',
    description:
      'The ledger, newest entry first, up to 1,000 entries a page. Pass `next_cursor` to get the next page, until it is null. The amounts add up to the balance. `from` and `to` are inclusive. Members see the entries of their own runs and of their workflows, admins see all. As CSV the cursor is in the header `X-Next-Cursor`, and the file is named after the days of its entries.',
    query: { type: 'charge', limit: '20' },
    writesCsv: true,
  },
  'GET /credits/prices': {
    id: 'getPrices',
    description:
      'The price list. `credits` of an action is its own price; the prices of providers are added to it. Providers and models called with your own keys cost nothing. Each change creates a version; a run uses the version that was current when it was queued. `version` returns an earlier list.',
  },
  'GET /credits/usage': {
    id: 'getUsage',
    description:
      'Credits spent and saved, summed by day. `group_by` takes up to three groups: `day`, `month`, `workflow`, `sheet`, `action`, `provider`, `member`, `key`, `trigger`. Under every grouping the credits equal the ledger, deleted workflows included. A cell counts for the provider that answered it; credits paid to several providers count for each of them. Members see their own runs and their workflows, admins see all.',
    query: { group_by: 'day,workflow' },
    writesCsv: true,
  },
  'GET /credits/budgets': {
    id: 'listBudgets',
    description:
      'The budgets with the amounts of their current periods. Members see the budgets of the organisation, of themselves, of their keys and of their workflows.',
  },
  'POST /credits/budgets': {
    id: 'createBudget',
    description:
      'Limits the credits that the organisation, a member, a key, a workflow or a sheet spends in each run, day, month or in total. `stop` refuses work that would exceed the limit, `warn` only sends an alert. Credits already spent in the current period count. Each threshold sends one alert for each period and limit, by mail and by a webhook that is signed like those of `send_webhook`, with `webhook_secret`.',
    body: { scope: 'organisation', period: 'month', limit: 5000, name: 'All of us' },
  },
  'GET /credits/budgets/{budget_id}': { id: 'getBudget', description: 'A budget with its current period.' },
  'PATCH /credits/budgets/{budget_id}': {
    id: 'updateBudget',
    description:
      'Changes name, limit, mode, thresholds, emails or webhook_url. A lower limit applies to the next reservations.',
    body: { limit: 8000 },
  },
  'DELETE /credits/budgets/{budget_id}': {
    id: 'deleteBudget',
    description: 'Removes a budget with its alerts. Runs that it stopped can be resumed.',
  },
  'POST /org/members': {
    id: 'addMember',
    description:
      'Invites an address. The invitation takes a seat and is recorded even if no mail could be sent (`email_sent` is false). Inviting the same address again returns `ALREADY_INVITED` until Remove Member withdraws the invitation.',
    body: { email: 'ann@example.com', role: 'member' },
  },
  'DELETE /org/members': {
    id: 'removeMember',
    description:
      'Ends a membership, or the invitation of an address that has not joined. The keys of the member are revoked, and the credentials they shared are withdrawn. `warnings` lists what is left without an owner or a connection; it never blocks the removal. Members cannot remove themselves.',
    query: { email: 'bob@example.com' },
  },
}
