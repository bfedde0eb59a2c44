import type { Ending } from './ending.ts'
import type { Flight } from './flights/flight.ts'

/**
 * Runs suspects: rows that were being run when a worker died. One of them may have ended it, or none. They are run
 * group by group, and the size of the group is noted beforehand. After another death only the rows of one group are
 * suspects, and are run in smaller groups, until the guilty row is alone. All other rows go on at full speed.
 */
export type Suspects = {
  /** Resolves when it is the row's turn, with a function to call when its cell is settled. */
  enter(flight: Flight): Promise<() => void>
}

/**
 * The number of suspects up to which they are run one by one. If there are more, most are innocent, and they are run in
 * a few large groups.
 */
const MAX_SINGLE = 64
const FIRST_GROUPS = 8
/** The number of groups that a group is split into after its worker died. */
const NEXT_GROUPS = 16
/** The time for which suspects are gathered before they are counted together. */
const GATHER_MS = 50
/**
 * The time that a group is waited for. Groups of longer cells overlap and are noted as one group. Each time a group
 * takes longer, the next is waited for less.
 */
const MAX_PATIENCE_MS = 2000
const MIN_PATIENCE_MS = 50
/** A row whose worker died while it was alone is tried for the last time, once this process has lived this long. */
const QUIET_MS = 3000
const LAST_PATIENCE_MS = 10_000
const ALONE = 1
const LAST_TIME = 0

type Suspect = { flight: Flight; start: () => void; ended: Promise<void> }

export function createSuspects(options: {
  mark: (flight: Flight, size: number) => Promise<boolean>
  ending: Ending
}): Suspects {
  const { mark, ending } = options
  const waiting: Suspect[] = []
  const underTest = new Set<Suspect>()
  const began = Date.now()
  let patienceMs = MAX_PATIENCE_MS
  /** The most untried suspects that waited at once, since the last time there were none. */
  let crowd = 0
  let running = false

  async function run(): Promise<void> {
    await ending.pause(GATHER_MS)
    while (waiting.length > 0 && !ending.hasBegun()) {
      const untried = waiting.filter(({ flight }) => flight.position.testedIn === null).length
      crowd = untried === 0 ? 0 : Math.max(crowd, untried)
      const group = takeGroup(waiting, crowd, Date.now() - began >= QUIET_MS)
      if (group.length === 0) await ending.pause(GATHER_MS)
      else await test(group)
    }
    running = false
    // A process that ends parks them without running them.
    for (const suspect of waiting.splice(0)) suspect.start()
  }

  async function test(group: Suspect[]): Promise<void> {
    for (const suspect of group) underTest.add(suspect)
    const [first] = underTest
    const isLast = underTest.size === 1 && first?.flight.position.testedIn === ALONE
    const size = isLast ? LAST_TIME : underTest.size
    // A suspect that cannot be marked meets the same outage, or its lost fence, when it is run.
    await Promise.allSettled([...underTest].map(({ flight }) => mark(flight, size)))
    for (const suspect of group) {
      suspect.start()
      void suspect.ended.then(() => underTest.delete(suspect))
    }
    const all = Promise.all(group.map(({ ended }) => ended)).then(() => true)
    const patience = isLast ? LAST_PATIENCE_MS : patienceMs
    const inTime = await Promise.race([all, ending.pause(patience).then(() => false)])
    patienceMs = inTime ? MAX_PATIENCE_MS : Math.max(MIN_PATIENCE_MS, patience / 2)
  }

  return {
    async enter(flight) {
      const turn = Promise.withResolvers<void>()
      const end = Promise.withResolvers<void>()
      waiting.push({ flight, start: turn.resolve, ended: end.promise })
      if (!running) {
        running = true
        void run()
      }
      await turn.promise
      return end.resolve
    },
  }
}

/**
 * Takes the next group out of the waiting suspects: first of those that no group was tried with, since most are
 * innocent; then of those that were tried in large groups. Returns none if the only ones left have to wait.
 */
function takeGroup(waiting: Suspect[], crowd: number, quiet: boolean): Suspect[] {
  const classOf = ({ flight }: Suspect) => flight.position.testedIn ?? Infinity
  const eligible = waiting.filter((suspect) => quiet || classOf(suspect) !== ALONE)
  const largest = Math.max(...eligible.map(classOf))
  const likely = eligible.filter((suspect) => classOf(suspect) === largest)
  const first = crowd <= MAX_SINGLE ? 1 : crowd / FIRST_GROUPS
  const size = largest === Infinity ? first : largest / NEXT_GROUPS
  const group = likely.slice(0, Math.max(1, Math.ceil(size)))
  for (const suspect of group) waiting.splice(waiting.indexOf(suspect), 1)
  return group
}
