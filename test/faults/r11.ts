// R11: each of 10,000 webhooks is delivered three times with the same webhook-id, shuffled and many at once,
// to two API processes that are killed with -9 now and then. A delivery without a response is sent again.
// There must be 10,000 rows.
// npm run faults:r11 [-- --webhooks 10000 --senders 64 --kills 3 --seed 1]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createSealer } from '#server/lib/security/secrets.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { callOver, makeSheet } from '#test/builders/sheets.ts'
import { openInstallation, SECRET } from '#test/plumbing/installation.ts'
import type { ServerProcess } from '#test/plumbing/server-process.ts'
import { createRandom } from '../builders/seeded-random.ts'
import { check, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: {
    webhooks: { type: 'string', default: '10000' },
    senders: { type: 'string', default: '64' },
    kills: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
})
const WEBHOOKS = Number(values.webhooks)
const TIMES = 3
const SETTINGS = { LOAM_ROLES: 'api', LOAM_WEBHOOK_PER_MINUTE: '1000000000' }

/** A seed repeats the same order. */
const random = createRandom(Number(values.seed))

const installation = await openInstallation()
const { store } = installation
try {
  const { orgId, key } = await installation.makeOrg('Webhooks')
  const servers = await Promise.all([1, 2].map(() => installation.startServer(SETTINGS)))
  const call = callOver(servers[0]?.url ?? '', key)
  const step = { action_id: 'normalize_domain', inputs: { value: '{{input.domain}}' } }
  const base = await makeSheet(call, ['n', 'domain'], [step])
  const sheet = { org_id: orgId, sheet_id: base.slice(-36) }
  await store.system
    .updateTable('sheets')
    .set({ auto_run: true })
    .where('sheet_id', '=', sheet.sheet_id)
    .execute()
  const path = `/hooks/${await switchWebhookOn(store.system, OPERATOR, createSealer(SECRET), { sheet })}`

  const waiting = Array.from({ length: WEBHOOKS * TIMES }, (_, n) => n % WEBHOOKS)
  for (let n = waiting.length - 1; n > 0; n -= 1) {
    const other = Math.floor(random() * (n + 1))
    const [a = 0, b = 0] = [waiting[n], waiting[other]]
    waiting[n] = b
    waiting[other] = a
  }
  say(
    `seed ${values.seed}: ${waiting.length} deliveries of ${WEBHOOKS} webhooks by ${values.senders} senders`,
  )

  const rowOf = new Map<number, string>()
  let [answered, replayed, sentAgain, contradictions] = [0, 0, 0, 0]
  /** Sends a delivery until there is a response, as senders do. Each attempt goes to the next process. */
  const deliver = async (n: number): Promise<void> => {
    for (let attempt = 0; ; attempt += 1) {
      const server = servers[(n + attempt + answered) % servers.length]
      const response = await fetch(`${server?.url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'webhook-id': `msg_${n}` },
        body: JSON.stringify({ n: String(n), domain: `c${n}.example` }),
      }).catch(() => null)
      const answer = response?.status === 200 ? await response.json().catch(() => null) : null
      if (response !== null && answer !== null) {
        const [rowId = ''] = (answer as { data: { row_ids: string[] } }).data.row_ids
        const known = rowOf.get(n) ?? rowId
        if (known !== rowId) contradictions += 1
        rowOf.set(n, rowId)
        answered += 1
        if (response.headers.get('idempotency-replayed') === 'true') replayed += 1
        return
      }
      sentAgain += 1
      await sleep(100)
    }
  }
  const sender = async (): Promise<void> => {
    for (let n = waiting.pop(); n !== undefined; n = waiting.pop()) await deliver(n)
  }

  const killer = async (): Promise<void> => {
    const kills = Number(values.kills)
    for (let kill = 0; kill < kills; kill += 1) {
      const isTime = () => answered >= (WEBHOOKS * TIMES * (kill + 1)) / (kills + 1)
      while (!isTime()) await sleep(5)
      const index = kill % servers.length
      await (servers[index] as ServerProcess).stop('SIGKILL')
      say(`kill -9 of an API process after ${answered} answers`)
      servers[index] = await installation.startServer(SETTINGS)
    }
  }

  const began = performance.now()
  await Promise.all([killer(), ...Array.from({ length: Number(values.senders) }, sender)])
  const seconds = (performance.now() - began) / 1000
  say(
    `all answered after ${seconds.toFixed(1)} s (${(answered / seconds).toFixed(0)}/s); ${sentAgain} were sent again without an answer`,
  )

  const [found] = await store.query<Record<string, number>>({
    text: `select (select count(*) from rows where sheet_id = $1) as rows,
        (select count(distinct data->>'1') from rows where sheet_id = $1) as webhooks,
        (select count(*) from flights where sheet_id = $1) as flights,
        (select sum(rows_queued) from runs where sheet_id = $1 and trigger = 'webhook')::bigint as queued,
        (select count(*) from graphile_worker._private_jobs) + (select count(*) from graphile_groups._private_jobs) as jobs,
        (select count(*) from webhook_ids where sheet_id = $1) as ids`,
    values: [sheet.sheet_id],
  })
  check('deliveries that were answered', answered, WEBHOOKS * TIMES)
  check('rows', found?.['rows'], WEBHOOKS)
  check('webhooks that have a row', found?.['webhooks'], WEBHOOKS)
  check('ids that are remembered', found?.['ids'], WEBHOOKS)
  check('rows that were answered, each the same every time', rowOf.size - contradictions, WEBHOOKS)
  check('answers that were repetitions, at least two of three', replayed >= WEBHOOKS * (TIMES - 1), true)
  check('rows queued by auto_run', found?.['queued'], WEBHOOKS)
  check('rows in flight', found?.['flights'], WEBHOOKS)
  check('jobs', found?.['jobs'], WEBHOOKS)
  sayVerdict('R11')
} finally {
  await installation.close()
}
