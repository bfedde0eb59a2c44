import { readdir } from 'node:fs/promises'
import type { Provider } from '../provider/provider.ts'

/** Every provider there is, by the folders of their definitions. Built-ins need no connection and are left out. */
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

function isProvider(value: unknown): value is Provider {
  return typeof value === 'object' && value !== null && 'request' in value && 'auth' in value
}
