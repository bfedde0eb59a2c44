import { z } from 'zod'
import { defineReceiver } from '../../receive.ts'
import { defineShape } from '../../shape.ts'
import { Beacon, PageView, readBeacon } from './beacon.ts'
import { ipinfoCompany } from './ipinfo.ts'
import { reverseDns } from './reverse-dns.ts'
import { activeDomain } from './site.ts'
import { addPage, pageFields } from './visits.ts'

export const visitingCompanies = defineShape({
  body: { active_domain: activeDomain },
  row: z.object({
    company: z.string(),
    domain: z.string(),
    ...pageFields,
    found_by: z.string(),
  }),
})

export const ownPixel = defineReceiver(visitingCompanies, {
  from: { id: 'pixel', name: 'Pixel' },
  posted: {
    way: 'pixel',
    schema: Beacon,
    read: (beacon, { body, sender, salt }) => readBeacon(beacon, sender, { site: body.active_domain, salt }),
  },
  item: PageView,
  lookups: [reverseDns, ipinfoCompany],
  subjectOf: ({ address }) => address,
  visitOf: ({ visit }) => visit,
  keyOf: (_view, company) => company?.domain ?? null,
  fold({ before, item, company, at, isNewVisit }) {
    const domain = company?.domain ?? before?.domain ?? ''
    return {
      company: company?.name ?? before?.company ?? domain,
      domain,
      ...addPage(before, item, { at, isNewVisit }),
      found_by: company?.found_by ?? before?.found_by ?? '',
    }
  },
})
