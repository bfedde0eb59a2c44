import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { newQuickJSWASMModuleFromVariant, newVariant, RELEASE_SYNC } from 'quickjs-emscripten'
import { MEMORY_MB } from './sandbox-evaluation.ts'
import { createEvaluator, type Evaluator, MAX_REALMS, type SeenRows } from './sandbox-evaluator.ts'

/** The machines of a carrier, one for each owner. */
export type Machines = {
  /**
   * Runs `work` on the machine of an owner. An error that `work` throws is not a failure of an expression but a fault of
   * the engine: the machine is discarded with its whole memory, and the result of `onFault` is returned.
   */
  use<Result>(
    owner: string,
    work: (machine: Evaluator) => Result,
    onFault: (fault: string) => Result,
  ): Promise<Result>
}

declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Memory: new (size: { initial: number; maximum: number }) => Memory
}
type Memory = { buffer: ArrayBuffer }
type Machine = { evaluator: Evaluator; memory: Memory }

const PAGE = 65_536
/** The initial memory that this build's module asks for. */
const INITIAL_PAGES = 256
const PAGES_PER_REALM = 16
/**
 * Extra pages on top of the memory that an expression may use: for the program's own data and stack, and for the realms.
 */
const OVERHEAD_PAGES = 88 + MAX_REALMS * PAGES_PER_REALM
const MAX_PAGES = (MEMORY_MB * 1_048_576) / PAGE + OVERHEAD_PAGES
/** The most machines that are kept. Creating one takes about a millisecond. */
const MAX_MACHINES = 32
const MAX_EVALUATIONS = 100_000

/**
 * Creates QuickJS machines. A WebAssembly memory never serves two owners: an attacker who breaks the engine only finds
 * values of the same organisation. In this build QuickJS counts blocks and not bytes, so the limit of the WebAssembly
 * memory limits an expression's memory.
 */
export function createMachines({ max = MAX_MACHINES, maxEvaluations = MAX_EVALUATIONS } = {}): Machines {
  const require = createRequire(import.meta.resolve('quickjs-emscripten'))
  const wasmModule = new WebAssembly.Module(
    readFileSync(require.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')),
  )
  /** The machines by owner. The most recently used one is the last. */
  const machines = new Map<string, Machine>()
  const seen: SeenRows = new Map()

  async function start(owner: string): Promise<Machine> {
    const memory = new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum: MAX_PAGES })
    const variant = newVariant(RELEASE_SYNC, { wasmModule, wasmMemory: memory })
    return { memory, evaluator: createEvaluator(await newQuickJSWASMModuleFromVariant(variant), owner, seen) }
  }

  /** Returns true if a machine must be replaced. A memory that has grown does not shrink. */
  const isUsedUp = ({ evaluator, memory }: Machine) =>
    evaluator.evaluated() >= maxEvaluations || memory.buffer.byteLength > INITIAL_PAGES * PAGE

  /** Returns the machine of an owner. Creates a new one if there is none or if the known one is used up. */
  async function machineOf(owner: string): Promise<Evaluator> {
    const known = machines.get(owner)
    machines.delete(owner)
    const machine = known === undefined || isUsedUp(known) ? await start(owner) : known
    const [oldest] = machines.keys()
    if (machines.size >= max && oldest !== undefined) machines.delete(oldest)
    machines.set(owner, machine)
    return machine.evaluator
  }

  return {
    async use(owner, work, onFault) {
      const machine = await machineOf(owner)
      try {
        return work(machine)
      } catch (cause) {
        machines.delete(owner)
        return onFault(
          (cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)).slice(0, 500),
        )
      }
    },
  }
}
