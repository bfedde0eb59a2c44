import { readdir } from 'node:fs/promises'
import type { Adapter } from '../provider/adapter.ts'
import { describeEnd } from '../provider/announced-end.ts'
import type { Provider } from '../provider/provider.ts'

/** Loads every provider, found by the folder of its definition. Built-ins need no connection and are left out. */
export async function loadProviders(): Promise<Provider[]> {
  const folder = new URL('.', import.meta.url)
  const names = (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('built_in'))
    .map(({ name }) => name)
    .sort()
  return Promise.all(
    names.map(async (name) => {
      const module = (await import(`./${name}/provider.ts`)) as Record<string, unknown>
      const provider = Object.values(module).find(isProvider)
      if (provider?.id !== name)
        throw new Error(`providers/${name}/provider.ts must export the provider ${name}`)
      return provider
    }),
  )
}

/** Returns a line for each API that ends soon or has ended. Providers that the operator has moved are left out. */
export async function listAnnouncedEnds(moved: ReadonlyMap<string, string>, now: Date): Promise<string[]> {
  const called = (await loadProviders()).filter(({ id }) => !moved.has(id))
  return called.flatMap((provider) => describeEnd(provider, now) ?? [])
}

function isProvider(value: unknown): value is Provider {
  return typeof value === 'object' && value !== null && 'request' in value && 'auth' in value
}

export type RegisteredAdapter = {
  provider: Provider
  /** The name of its file, which is also that of the question. */
  question: string
  /** The adapter, without its input type, because nothing is asked through this type. */
  adapter: Pick<Adapter<never, unknown>, 'provider' | 'price' | 'missPrice' | 'option'>
}

/** Loads every adapter of every provider except built-ins, by file. */
export async function loadAdapters(): Promise<RegisteredAdapter[]> {
  const providers = await loadProviders()
  const found = await Promise.all(
    providers.map(async (provider) => {
      const folder = new URL(`${provider.id}/`, import.meta.url)
      const files = (await readdir(folder)).filter((name) => /(?<!\.test)\.ts$/.test(name)).sort()
      const questions = files.map((file) => file.replace(/\.ts$/, ''))
      return Promise.all(
        questions.map(async (question) => {
          const module = (await import(`./${provider.id}/${question}.ts`)) as Record<string, unknown>
          const adapters = Object.values(module).filter(isAdapter)
          return adapters.map((adapter) => ({ provider, question, adapter }))
        }),
      )
    }),
  )
  return found.flat(2)
}

function isAdapter(value: unknown): value is RegisteredAdapter['adapter'] {
  return typeof value === 'object' && value !== null && 'question' in value && 'option' in value
}
