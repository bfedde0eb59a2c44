import { braveSearch } from '../providers/brave/search.ts'
import { exaSearch } from '../providers/exa/search.ts'
import { searxngSearch } from '../providers/searxng/search.ts'
import { serperSearch } from '../providers/serper/search.ts'
import { tavilySearch } from '../providers/tavily/search.ts'

/** Who searches the web, in the order of the default. */
export const SEARCH_ENGINES = [searxngSearch, serperSearch, braveSearch, tavilySearch, exaSearch]
