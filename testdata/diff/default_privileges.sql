CREATE ROLE defp_a;
CREATE ROLE defp_b;
ALTER DEFAULT PRIVILEGES FOR ROLE defp_a IN SCHEMA public GRANT ALL ON SEQUENCES TO defp_b;
ALTER DEFAULT PRIVILEGES FOR ROLE defp_a GRANT SELECT ON TABLES TO defp_b;
ALTER DEFAULT PRIVILEGES FOR ROLE defp_a REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
SELECT current_database() AS db \gset
GRANT CREATE ON DATABASE :"db" TO defp_b;
ALTER DATABASE :"db" OWNER TO defp_b;
ALTER DATABASE :"db" OWNER TO defp_a;
ALTER DATABASE :"db" OWNER TO CURRENT_USER;
SELECT datacl::text LIKE '%defp%' FROM pg_database WHERE datname = current_database();
SELECT defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype, defaclacl FROM pg_default_acl ORDER BY 1, 3;
DROP OWNED BY defp_b;
SELECT defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype, defaclacl FROM pg_default_acl ORDER BY 1, 3;
DROP OWNED BY defp_a;
SELECT defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype, defaclacl FROM pg_default_acl ORDER BY 1, 3;
DROP ROLE defp_a, defp_b;
