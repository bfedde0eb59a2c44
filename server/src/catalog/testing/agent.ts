import { atEnd } from '#test/plumbing/at-end.ts'
import { readConfig } from '../../lib/config/config.ts'
import { parseEgressAllow } from '../../lib/egress/addresses.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import { type AgentLimits, DEFAULT_LIMITS } from '../agent/budget.ts'
import { createPageReaders, type PageReader } from '../agent/page-reader.ts'
import { type AgentRun, runAgent } from '../agent/run-agent.ts'
import type { AgentTask } from '../agent/task.ts'
import { createSandbox } from '../formula/sandbox.ts'
import { createModels, type Models } from '../models/models.ts'
import type { ProviderGate } from '../provider/access.ts'

const OPEN: ProviderGate = { enter: async () => ({ kind: 'entered', leave: () => undefined }) }

export type AgentSettings = {
  modelUrl: string
  searchUrl?: string
  limits?: Partial<AgentLimits>
  signal?: AbortSignal
  reader?: PageReader
}

/**
 * Runs the agent against a model, a search engine and sites on loopback. The services are closed after the test file.
 */
export function useAgent(): (task: Partial<AgentTask>, settings: AgentSettings) => Promise<AgentRun> {
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.0/8').entries })
  const sandbox = createSandbox()
  const opened: Models[] = []
  atEnd(async () => {
    await Promise.all([egress.close(), sandbox.close(), ...opened.map((models) => models.close())])
  })
  return async (task, settings) => {
    const models = createModels(readConfig({ LOAM_MODEL_BASE_URL: settings.modelUrl }))
    opened.push(models)
    const keys = { platform: () => null, own: async () => null }
    const found = await models.find('scripted', { keys, egress })
    if (!found.ok) throw new Error(found.message)
    return runAgent(
      { mission: '', data: '', named: task.mission ?? '', fields: [], allowedDomains: [], ...task },
      found.model,
      { ...DEFAULT_LIMITS, ...settings.limits },
      {
        egress: {
          ...egress,
          baseUrl: (id, fallback) =>
            id === 'searxng' && settings.searchUrl !== undefined
              ? settings.searchUrl
              : egress.baseUrl(id, fallback),
        },
        sandbox: sandbox.of('a test'),
        keys,
        gate: OPEN,
        reader: settings.reader ?? createPageReaders({ keepSeconds: 0 }).of('a test'),
        signal: settings.signal ?? new AbortController().signal,
        now: () => new Date(),
      },
    )
  }
}
