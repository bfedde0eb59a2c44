import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { serveDouble } from '#server/catalog/testing/provider-double.ts'
import { parseEgressAllow } from '#server/lib/egress/addresses.ts'
import { createEgress } from '#server/lib/egress/egress.ts'
import { newId } from '#server/lib/ids.ts'
import { createMailer } from '#server/lib/mail.ts'
import { budgetAlertJob } from '#server/money/budget-alerts.ts'
import { serveSmtp } from '#test/doubles/mail-server.ts'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const BUDGETS = '/credits/budgets'

async function makeSpender(credits = 0) {
  const org = await app.makeOrg()
  const { workflow_id } = (await org.call('POST', '/workflows', { name: 'Spends' })).body.data
  const entry = {
    org_id: org.orgId,
    entry_id: newId(),
    amount_millis: -credits * 1000,
    balance_millis: 0,
    reason: 'cell',
    details: '{}',
    workflow_id,
    member: org.adminEmail,
    trigger: 'api',
  }
  if (credits > 0) await app.store.system.insertInto('credit_entries').values(entry).execute()
  return { org, workflow_id: workflow_id as string }
}

describe('M9: budgets', async () => {
  it('are made with scope, subject, period and limit; what the period has spent counts', async () => {
    const { org, workflow_id } = await makeSpender(3)
    const body = { scope: 'workflow', subject: workflow_id, period: 'month', limit: 10.5 }
    const made = await org.call('POST', BUDGETS, body)
    const { webhook_secret, ...budget } = made.body.data
    expect([made.status, webhook_secret]).toEqual([201, expect.stringMatching(/^whsec_/)])
    expect(budget).toEqual({
      budget_id: expect.any(String),
      name: expect.stringContaining(workflow_id),
      ...body,
      trigger: null,
      mode: 'stop',
      thresholds: [50, 80, 100],
      emails: [org.adminEmail],
      webhook_url: null,
      spent: 3,
      held: 0,
      remaining: 7.5,
      period_start: expect.stringMatching(/-01T00:00:00.000Z$/),
      period_end: expect.stringMatching(/-01T00:00:00.000Z$/),
      alerts: [],
      created_at: expect.any(String),
    })
    expect((await org.call('GET', BUDGETS)).body.data).toEqual([budget])
    // M1: the credits left in the budget limit a run.
    const sheet = `/workflows/${workflow_id}/sheets/${workflow_id}`
    await org.call('POST', `${sheet}/actions/add`, { action_id: 'filter', inputs: {} })
    const estimate = await org.call('POST', `${sheet}/estimate`, { new_rows: 1 })
    const limit = { kind: 'budget', budget_id: budget.budget_id, name: budget.name, remaining: 7.5 }
    expect(estimate.body.data.limits).toContainEqual({ ...limit, covers: 'at_most' })
    const one = `${BUDGETS}/${budget.budget_id}`
    expect((await org.call('GET', one)).body.data).toEqual(budget)
    const changed = await org.call('PATCH', one, { name: 'Less', limit: 5, mode: 'warn' })
    expect(changed.body.data).toMatchObject({ name: 'Less', limit: 5, remaining: 2, mode: 'warn' })
    expect((await org.call('POST', BUDGETS, body)).status).toBe(409)
    expect((await org.call('POST', BUDGETS, { ...body, trigger: 'webhook' })).status).toBe(201)
    expect((await org.call('DELETE', one)).body.data).toEqual({ budget_id: budget.budget_id, deleted: true })
    expect((await org.call('GET', one)).status).toBe(404)
  })

  it('a budget of each kind of subject counts what is its own', async () => {
    const { org, workflow_id } = await makeSpender(4)
    const subjects = {
      organisation: null,
      member: org.adminEmail.toUpperCase(),
      workflow: workflow_id,
      sheet: workflow_id,
    }
    for (const [scope, subject] of Object.entries(subjects)) {
      const { body } = await org.call('POST', BUDGETS, { scope, subject, period: 'total', limit: 100 })
      // The charge has no sheet.
      expect([scope, body.data.spent]).toEqual([scope, scope === 'sheet' ? 0 : 4])
    }
  })

  const { org } = await makeSpender()
  const plain = { scope: 'organisation', period: 'day', limit: 1 }
  it.each<[string, object, number, string?]>([
    ['an unknown member', { ...plain, scope: 'member', subject: 'nobody@example.com' }, 404],
    ['an unknown workflow', { ...plain, scope: 'workflow', subject: newId() }, 404],
    ['an id that is none', { ...plain, scope: 'key', subject: 'x' }, 404],
    ['no subject', { ...plain, scope: 'sheet' }, 400, 'subject'],
    ['a subject of the organisation', { ...plain, subject: 'x' }, 400, 'subject'],
    ['no limit', { scope: 'organisation', period: 'day' }, 400, 'limit'],
    ['a limit below 0', { ...plain, limit: -1 }, 400, 'limit'],
    ['four decimals', { ...plain, limit: 0.0001 }, 400, 'limit'],
    ['another period', { ...plain, period: 'year' }, 400, 'period'],
    ['another trigger', { ...plain, trigger: 'me' }, 400, 'trigger'],
    ['an address that is none', { ...plain, emails: ['x'] }, 400, 'emails[0]'],
    ['a webhook that is none', { ...plain, webhook_url: 'ftp://x.example' }, 400, 'webhook_url'],
    ['a threshold of 0', { ...plain, thresholds: [0] }, 400, 'thresholds[0]'],
  ])('%s is refused', async (_what, body, status, field) => {
    const answer = await org.call('POST', BUDGETS, body)
    expect([answer.status, answer.body.errors?.[0].field]).toEqual([status, field])
  })

  it('D5: a name beyond several bounds is one failure', async () => {
    const answer = await org.call('POST', BUDGETS, { ...plain, name: 'x'.repeat(256) })
    expect(answer.body.errors).toEqual([{ field: 'name', message: 'must be at most 200 characters' }])
  })

  it('an organisation has at most 1,000 of them, also when several are made at once', async () => {
    const { org } = await makeSpender()
    await sql`insert into budgets (org_id, budget_id, name, scope, subject, period, limit_millis, mode, thresholds, emails, secret_sealed)
      select ${org.orgId}, gen_random_uuid(), 'Many', 'workflow', n::text, 'day', 1, 'stop', '{100}', '{}', ''
      from generate_series(1, 999) as n`.execute(app.store.system)
    const answers = await Promise.all(
      ['run', 'day', 'month', 'total'].map((period) =>
        org.call('POST', BUDGETS, { scope: 'organisation', period, limit: 1 }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      201, 409, 409, 409,
    ])
    const refused = answers.find(({ status }) => status === 409)
    expect(refused?.body.message).toContain('has 1000 budgets, which is the limit')
  })

  it('only administrators change them; members see what concerns them, others nothing', async () => {
    const { org: own, workflow_id } = await makeSpender()
    const ann = await own.keyFor('ann@example.com', 'member')
    const all: object[] = [plain, { ...plain, scope: 'workflow', subject: workflow_id }]
    for (const body of [...all, { ...plain, scope: 'member', subject: 'ann@example.com' }])
      expect((await own.call('POST', BUDGETS, body)).status).toBe(201)
    const seen = (await app.call(ann, 'GET', BUDGETS)).body.data
    expect(seen.map(({ scope }: { scope: string }) => scope)).toEqual(['member', 'organisation'])
    const one = `${BUDGETS}/${seen[0].budget_id}`
    const answers = [
      await app.call(ann, 'POST', BUDGETS, plain),
      await app.call(ann, 'DELETE', one),
      await app.call(await own.keyFor('bob@example.com', 'user'), 'GET', BUDGETS),
      await org.call('GET', one),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403, 404])
  })
})

describe('M10: alerts', () => {
  it('a threshold is reported once for each period and limit, by mail and by a signed webhook with a stable id', async () => {
    const { org } = await makeSpender(8)
    const mail = await serveSmtp()
    let refusals = 1
    const hook = await serveDouble(() => ({ status: refusals-- > 0 ? 503 : 200 }))
    const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries })
    const { sealer, log } = app.services
    const sendMail = createMailer({ url: mail.url, from: 'loam@loam.test' })
    const job = budgetAlertJob({ store: app.store, egress, sendMail, mailPerHour: 200, sealer, log })
    const deliver = () => job.run(undefined, new AbortController().signal)

    const { body } = await org.call('POST', BUDGETS, {
      scope: 'organisation',
      period: 'month',
      limit: 10,
      name: 'Everybody',
      emails: ['a@example.com', 'b@example.com'],
      webhook_url: `${hook.origin}/alerts`,
    })
    const { budget_id, webhook_secret, alerts } = body.data
    expect(alerts.map(({ threshold }: { threshold: number }) => threshold)).toEqual([50, 80])
    await deliver()
    const mails = mail.received.map(({ to, text }) => `${to[0]}: ${/Subject: (.*)/.exec(text)?.[1]?.trim()}`)
    expect(mails.toSorted((one, other) => (one < other ? -1 : 1))).toEqual([
      'a@example.com: Budget Everybody: 50%',
      'a@example.com: Budget Everybody: 80%',
      'b@example.com: Budget Everybody: 50%',
      'b@example.com: Budget Everybody: 80%',
    ])
    // The message that was refused is due again.
    await sql`update budget_messages set due_at = now() where due_at is not null`.execute(app.store.system)
    await deliver()
    await deliver()
    expect(hook.seen).toHaveLength(3)
    const ids = hook.seen.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids).size).toBe(2)
    for (const { headers, body: sent } of hook.seen) {
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${sent}`
      const key = Buffer.from(webhook_secret.slice('whsec_'.length), 'base64')
      const signature = createHmac('sha256', key).update(signed).digest('base64')
      expect(headers['webhook-signature']).toBe(`v1,${signature}`)
    }
    const last = JSON.parse(hook.seen.at(-1)?.body ?? '{}')
    expect(last).toEqual({
      type: 'budget.threshold',
      timestamp: expect.any(String),
      data: {
        budget_id,
        name: 'Everybody',
        scope: 'organisation',
        subject: null,
        period: 'month',
        period_start: expect.any(String),
        threshold: expect.any(Number),
        limit: 10,
        spent: 8,
        mode: 'stop',
      },
    })
    // A lower limit counts as a new limit: a threshold that is already passed is reported again.
    await org.call('PATCH', `${BUDGETS}/${budget_id}`, { limit: 4, webhook_url: null })
    await org.call('PATCH', `${BUDGETS}/${budget_id}`, { limit: 4, thresholds: [100] })
    await deliver()
    const told = (await org.call('GET', `${BUDGETS}/${budget_id}`)).body.data.alerts
    expect(told.map(({ threshold }: { threshold: number }) => threshold)).toEqual([50, 80, 50, 80, 100])
    await egress.close()
  })

  it('F11: count as mails of their organisation, and wait for the next hour beyond them; many of one organisation do not delay the others', async () => {
    const [loud, quiet] = [await makeSpender(8), await makeSpender(8)]
    const mail = await serveSmtp()
    const egress = createEgress({ allow: [] })
    const { sealer, log } = app.services
    const sendMail = createMailer({ url: mail.url, from: 'loam@loam.test' })
    const job = budgetAlertJob({ store: app.store, egress, sendMail, mailPerHour: 12, sealer, log })
    const deliver = () => job.run(undefined, new AbortController().signal)
    const budget = { scope: 'organisation', period: 'month', limit: 4 }
    const emails = Array.from({ length: 20 }, (_, n) => `victim-${n}@example.com`)
    await loud.org.call('POST', BUDGETS, { ...budget, emails })
    await quiet.org.call('POST', BUDGETS, { ...budget, emails: ['quiet@example.com'] })
    const sentTo = (name: string) => mail.received.filter(({ to }) => to[0]?.startsWith(name)).length
    await deliver()
    expect(sentTo('quiet')).toBe(3)
    const { rows } = await sql<{
      tries: number
      waiting: number
    }>`select min(tries)::int as tries, count(*)::int as waiting
      from budget_messages where org_id = ${loud.org.orgId} and due_at is not null`.execute(app.store.system)
    const [{ tries, waiting } = { tries: -1, waiting: 0 }] = rows
    expect(sentTo('victim')).toBeGreaterThanOrEqual(12)
    // A new hour may have begun meanwhile.
    expect(sentTo('victim')).toBeLessThanOrEqual(24)
    expect([tries, waiting + sentTo('victim')]).toEqual([0, 60])
    await egress.close()
  })

  it('F46: an organisation has 2,000 messages waiting at most; the alerts of others stand in their budgets alone', async () => {
    const { org } = await makeSpender(8)
    const budget = { scope: 'organisation', period: 'total', limit: 4, thresholds: [100] }
    const { body } = await org.call('POST', BUDGETS, { ...budget, emails: ['a@example.com'] })
    const path = `${BUDGETS}/${body.data.budget_id}`
    const count = async () => {
      const { rows } = await sql<{ count: number }>`
        select count(*)::int as count from budget_messages where org_id = ${org.orgId}`.execute(
        app.store.system,
      )
      return rows[0]?.count
    }
    expect(await count()).toBe(1)
    // Inserts as many messages as are allowed; no process sends them meanwhile.
    await sql`insert into budget_messages (org_id, alert_id, email, due_at)
      select org_id, alert_id, email, now() + interval '1 day' from budget_messages, generate_series(1, 2000)
      where org_id = ${org.orgId}`.execute(app.store.system)
    const told = await org.call('PATCH', path, { limit: 3 })
    expect([told.body.data.alerts.length, await count()]).toEqual([2, 2001])
    await sql`update budget_messages set due_at = null where org_id = ${org.orgId}`.execute(app.store.system)
    await org.call('PATCH', path, { limit: 2 })
    expect(await count()).toBe(2002)
  })

  it('a receiver that hangs keeps no other alert waiting, of its organisation or of others', async () => {
    const [stuck, other] = [await makeSpender(8), await makeSpender(8)]
    const mail = await serveSmtp()
    const ending = new AbortController()
    const hanging = await serveDouble(() => ({ hang: true }))
    const hook = await serveDouble(() => ({ status: 200 }))
    const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries })
    const { sealer, log } = app.services
    const sendMail = createMailer({ url: mail.url, from: 'loam@loam.test' })
    const job = budgetAlertJob({ store: app.store, egress, sendMail, mailPerHour: 200, sealer, log })
    const budget = { scope: 'organisation', limit: 4 }
    await stuck.org.call('POST', BUDGETS, {
      ...budget,
      period: 'month',
      emails: [],
      webhook_url: `${hanging.origin}/hangs`,
    })
    const delivering = job.run(undefined, ending.signal)
    await expect.poll(() => hanging.seen.length).toBeGreaterThan(0)
    // These messages arrive while the first one still waits for its response.
    await stuck.org.call('POST', BUDGETS, { ...budget, period: 'day', emails: ['same@example.com'] })
    const webhook_url = `${hook.origin}/answers`
    await other.org.call('POST', BUDGETS, {
      ...budget,
      period: 'month',
      emails: ['other@example.com'],
      webhook_url,
    })
    const sentTo = (name: string) => mail.received.filter(({ to }) => to[0] === name).length
    const arrived = () => [sentTo('same@example.com'), sentTo('other@example.com'), hook.seen.length]
    await expect.poll(arrived).toEqual([3, 3, 3])
    ending.abort()
    await delivering
    await egress.close()
  })
})
