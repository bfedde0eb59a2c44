import { createPageReaders } from '#server/catalog/agent/page-reader.ts'
import { createSandbox } from '#server/catalog/formula/sandbox.ts'
import { createModels } from '#server/catalog/models/models.ts'
import { parseEgressAllow } from '#server/lib/egress/addresses.ts'
import { createEgress } from '#server/lib/egress/egress.ts'
import { createLog } from '#server/lib/log.ts'
import { createRunEnvironment } from '#server/runs/run-environment.ts'
import { atEnd } from '#test/plumbing/at-end.ts'
import { type TestApp, testConfig } from '#test/plumbing/harness.ts'
import { createProviderGates } from '../../provider-gate/provider-gate.ts'
import type { Engine } from '../engine-context.ts'
import { createEngine } from '../engine.ts'
import { faultCatalogue } from './fault-catalogue.ts'

/** Creates an engine with the catalogue of the fault tests, for rows that are walked one by one. */
export function makeEngine(app: TestApp, ending = new AbortController().signal): Engine {
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries })
  const sandbox = createSandbox()
  atEnd(() => Promise.all([egress.close(), sandbox.close()]))
  const log = createLog('silent')
  return createEngine({
    store: app.store,
    catalogue: faultCatalogue,
    egress,
    sandbox,
    models: createModels(testConfig()),
    pages: createPageReaders({ keepSeconds: 0 }),
    gates: createProviderGates(app.store, log),
    mail: { url: undefined, from: 'loam@localhost', perHour: 200 },
    log,
    ending,
    environment: createRunEnvironment(app.store, app.services.sealer, new Map()),
  })
}
