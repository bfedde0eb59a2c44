import { loadCatalogue } from '#server/catalog/registry.ts'
import { setPrice } from '#server/money/prices.ts'
import { createOrganisation } from '#server/organisation/organisations.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { callOver, type Step } from '#test/builders/sheets.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { shareOf, takeTurns } from '../parts/in-turns.ts'
import { median } from '../parts/report.ts'
import { held, type Line, line, rate } from './engine-line.ts'
import { ACTIONS, makeLoad, NO_OP, NOT_PURE, runToTheEnd } from './engine-load.ts'

const CREDITS = 100_000_000

/** Measures P18: the load of P1 with a price on every action, in turns with the same load free of charge. */
export async function measurePrices(
  installation: Installation,
  { rows, rounds }: { rows: number; rounds: number },
): Promise<Line[]> {
  const { store } = installation
  const admin = { name: 'Bench', adminEmail: 'admin@example.com', initialCredits: CREDITS }
  const { key } = await createOrganisation(store.system, OPERATOR, admin)
  const server = await installation.startServer()
  const call = callOver(server.url, key)
  const catalogue = await loadCatalogue()
  const speedAt = async (step: Step, credits: number): Promise<number> => {
    await setPrice(store.system, catalogue, { action: step.action_id, credits })
    const chain = Array.from({ length: ACTIONS }, () => step)
    return (rows * ACTIONS) / (await runToTheEnd(call, await makeLoad(call, rows, chain)))
  }
  const compare = async (what: string, step: Step): Promise<Line[]> => {
    await speedAt(step, 1)
    const { priced, free } = await takeTurns(`P18, ${what}`, rounds, {
      priced: () => speedAt(step, 1),
      free: () => speedAt(step, 0),
    })
    const share = shareOf(priced, free)
    return [
      line('P18', `${what}, free`, rate(median(free))),
      line('P18', `${what}, every action priced`, rate(median(priced)), {
        'of bare': `${share.toFixed(2)} of free`,
        ...held(share, 0.9, ' of free'),
      }),
    ]
  }
  try {
    return [
      ...(await compare('Loam, the load of P1', NO_OP)),
      ...(await compare('Loam, each cell durable before the next', NOT_PURE)),
    ]
  } finally {
    await server.stop()
  }
}
