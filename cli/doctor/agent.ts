import { accessSync, constants } from 'node:fs'
import { agentModel } from '#server/agent/agent.ts'
import { findPrivileges } from '#server/catalog/built-in/web/browser/privileges.ts'
import type { Config } from '#server/lib/config/config.ts'
import { findChromium, INSTALL_CHROMIUM } from '#server/lib/find-chromium.ts'
import { type Check, fail, ok, warn } from './check.ts'

const SHUT_IN =
  'run Loam as an ordinary user on a kernel with user namespaces (containers: a seccomp profile that allows them), or set LOAM_BROWSER=none'

/** Checks that the configured browser, which renders pages, exists and is sandboxed. Does not start it. */
export async function checkBrowser({ LOAM_BROWSER: setting }: Config): Promise<Check> {
  const path = findChromium(setting)
  if (path === null) return ok('browser', 'none; pages are read without running their scripts')
  try {
    accessSync(path, constants.X_OK)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    return fail('browser', why, `${INSTALL_CHROMIUM}, or unset LOAM_BROWSER`)
  }
  const { account, lacks } = await findPrivileges(path)
  if (lacks !== null) return warn('browser', `${path}; ${lacks}`, SHUT_IN)
  return ok('browser', account === null ? path : `${path}, as the user nobody`)
}

/** Checks that the web agent has a model and a search engine. Calls neither. */
export function checkAgent(config: Config): Check {
  const model = agentModel(config)
  const vendor = model.split('/', 1)[0] ?? ''
  const hasModel =
    config.LOAM_MODEL_BASE_URL !== undefined ||
    config.providerKeys.has(vendor) ||
    (vendor === 'anthropic' && config.LOAM_ANTHROPIC_API_KEY !== undefined)
  if (!hasModel) {
    const ways =
      'LOAM_MODEL_BASE_URL (an OpenAI-compatible server) or LOAM_ANTHROPIC_API_KEY, and LOAM_AGENT_MODEL'
    return ok('agent', `the web agent has no model; to use it set ${ways}`)
  }
  const engines = ['serper', 'brave', 'tavily', 'exa'].filter((id) => config.providerKeys.has(id))
  const searches = [...(config.LOAM_SEARCH_URL === undefined ? [] : ['SearXNG']), ...engines]
  if (searches.length === 0) {
    return warn(
      'agent',
      `uses ${model}, but has no search engine: it reads only sites named in a task`,
      'set LOAM_SEARCH_URL to a SearXNG, or LOAM_PROVIDER_KEY_SERPER (or BRAVE, TAVILY, EXA)',
    )
  }
  return ok('agent', `uses ${model}, searches with ${searches.join(', ')}`)
}
