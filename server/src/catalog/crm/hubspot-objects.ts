/** The id of the type of contacts. */
export const CONTACTS = '0-1'

type ObjectType = {
  /** The id in the addresses of pages. */
  id: string
  label: string
  /** Properties that are shown if the caller names none. */
  shown: string
  /** Properties that identify records for people, although HubSpot may not enforce that they are unique. */
  identity: string[]
}

const defineType = (id: string, label: string, shown: string, identity: string[] = []): ObjectType => ({
  id,
  label,
  shown,
  identity,
})

/** The object types that every account has. Custom objects are added to them. */
export const OBJECT_TYPES: Readonly<Record<string, ObjectType>> = {
  contacts: defineType(
    CONTACTS,
    'Contacts',
    'email firstname lastname phone jobtitle company website city country lifecyclestage hubspot_owner_id',
    ['email'],
  ),
  companies: defineType(
    '0-2',
    'Companies',
    'name domain website phone industry numberofemployees annualrevenue city country lifecyclestage hubspot_owner_id',
    ['domain'],
  ),
  deals: defineType('0-3', 'Deals', 'dealname amount dealstage pipeline closedate hubspot_owner_id'),
  tickets: defineType('0-5', 'Tickets', 'subject content hs_pipeline hs_pipeline_stage hs_ticket_priority'),
  products: defineType('0-7', 'Products', 'name description price hs_sku'),
  line_items: defineType('0-8', 'Line items', 'name quantity price amount hs_product_id'),
  leads: defineType('0-136', 'Leads', 'hs_lead_name hs_lead_type hs_lead_label hubspot_owner_id'),
  notes: defineType('0-46', 'Notes', 'hs_note_body hs_timestamp hubspot_owner_id'),
  tasks: defineType(
    '0-27',
    'Tasks',
    'hs_task_subject hs_task_body hs_task_status hs_timestamp hubspot_owner_id',
  ),
}

function find(object: string): ObjectType | undefined {
  const plain = object.toLowerCase()
  const plural = plain === 'company' ? 'companies' : `${plain}s`
  const name = [plain, plural].find((one) => Object.hasOwn(OBJECT_TYPES, one))
  return name === undefined ? Object.values(OBJECT_TYPES).find(({ id }) => id === plain) : OBJECT_TYPES[name]
}

/** Returns the id of a type by its name. The name of a custom object is its id. */
export function findObjectType(object: string): string | null {
  return find(object)?.id ?? (/^\d+-\d+$/.test(object) ? object : null)
}

export function shownProperties(object: string): string[] {
  return find(object)?.shown.split(' ') ?? []
}

export function identityProperties(object: string): string[] {
  return find(object)?.identity ?? []
}
