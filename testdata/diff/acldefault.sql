SELECT k, acldefault(k::"char", 10::oid) FROM unnest(ARRAY['r','s','d','n','f','T','l','c']) k ORDER BY 1;
SELECT (aclexplode(acldefault('d'::"char", 10::oid))).*;
