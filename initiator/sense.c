#include "initiator/sense.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
	STATUS_GOOD = 0x00,
	STATUS_CHECK_CONDITION = 0x02,
	STATUS_CONDITION_MET = 0x04,
	STATUS_BUSY = 0x08,
	STATUS_RESERVATION_CONFLICT = 0x18,
	STATUS_TASK_SET_FULL = 0x28,
	STATUS_ACA_ACTIVE = 0x30,
	STATUS_TASK_ABORTED = 0x40,
};

enum {
	KEY_NO_SENSE = 0x0,
	KEY_RECOVERED_ERROR = 0x1,
	KEY_NOT_READY = 0x2,
	KEY_MEDIUM_ERROR = 0x3,
	KEY_ILLEGAL_REQUEST = 0x5,
	KEY_UNIT_ATTENTION = 0x6,
	KEY_DATA_PROTECT = 0x7,
};

static const char *const key_names[16] = {
	"NO SENSE",	   "RECOVERED ERROR", "NOT READY",
	"MEDIUM ERROR",	   "HARDWARE ERROR",  "ILLEGAL REQUEST",
	"UNIT ATTENTION",  "DATA PROTECT",    "BLANK CHECK",
	"VENDOR SPECIFIC", "COPY ABORTED",    "ABORTED COMMAND",
	"sense key 0xc",   "VOLUME OVERFLOW", "MISCOMPARE",
	"COMPLETED",
};

/* SPC-4 annex F, the codes that a disk can give, in our words. An ascq of ANY
 * names the family. */
enum { ANY = 0x100 };

static const struct {
	uint16_t asc, ascq;
	const char *name;
} codes[] = {
	{0x00, 0x00, "no additional information"},
	{0x00, 0x06, "I/O process terminated"},
	{0x00, 0x16, "operation in progress"},
	{0x02, 0x00, "no seek complete"},
	{0x03, 0x00, "peripheral device write fault"},
	{0x04, 0x00, "not ready, cause not reported"},
	{0x04, 0x01, "becoming ready"},
	{0x04, 0x02, "not ready, needs a START command"},
	{0x04, 0x03, "not ready, manual intervention needed"},
	{0x04, 0x04, "not ready, format in progress"},
	{0x04, 0x05, "not ready, rebuild in progress"},
	{0x04, 0x06, "not ready, recalculation in progress"},
	{0x04, 0x07, "not ready, operation in progress"},
	{0x04, 0x09, "not ready, self-test in progress"},
	{0x04, 0x0a, "not accessible, asymmetric access state transition"},
	{0x04, 0x0b, "not accessible, target port in standby state"},
	{0x04, 0x0c, "not accessible, target port in unavailable state"},
	{0x04, 0x12, "not ready, off line"},
	{0x04, 0x14, "not ready, space allocation in progress"},
	{0x04, 0x1b, "not ready, sanitize in progress"},
	{0x04, ANY, "not ready"},
	{0x05, 0x00, "LUN does not respond to selection"},
	{0x08, ANY, "LUN communication failure"},
	{0x09, ANY, "track following or servo error"},
	{0x0b, ANY, "warning by the device"},
	{0x0c, 0x00, "write error"},
	{0x0c, 0x02, "write error, reallocation failed"},
	{0x0c, 0x03, "write error, reassignment recommended"},
	{0x0c, 0x0c, "write error, unexpected unsolicited data"},
	{0x0c, 0x0d, "write error, not enough unsolicited data"},
	{0x0c, ANY, "write error"},
	{0x0e, ANY, "invalid information unit"},
	{0x10, ANY, "protection information check failed"},
	{0x11, 0x00, "unrecovered read error"},
	{0x11, 0x01, "read retries exhausted"},
	{0x11, 0x04, "unrecovered read error, reallocation failed"},
	{0x11, 0x0b, "unrecovered read error, reassignment recommended"},
	{0x11, 0x0c, "unrecovered read error, rewriting recommended"},
	{0x11, 0x14, "read error, LBA marked bad by the application client"},
	{0x11, ANY, "unrecovered read error"},
	{0x14, ANY, "recorded entity not found"},
	{0x15, ANY, "positioning error"},
	{0x16, ANY, "data synchronization mark error"},
	{0x17, ANY, "data recovered without error correction"},
	{0x18, ANY, "data recovered with error correction"},
	{0x19, ANY, "defect list error"},
	{0x1a, 0x00, "parameter list length error"},
	{0x1b, 0x00, "synchronous data transfer error"},
	{0x1d, 0x00, "miscompare during verify"},
	{0x20, 0x00, "invalid command operation code"},
	{0x20, ANY, "command refused"},
	{0x21, 0x00, "LBA out of range"},
	{0x21, ANY, "LBA out of range or invalid address"},
	{0x22, 0x00, "illegal function"},
	{0x24, 0x00, "invalid field in the CDB"},
	{0x24, ANY, "invalid field in the CDB"},
	{0x25, 0x00, "no such LUN"},
	{0x26, 0x00, "invalid field in the parameter list"},
	{0x26, ANY, "invalid parameter"},
	{0x27, 0x00, "write protected"},
	{0x27, 0x01, "hardware write protected"},
	{0x27, 0x02, "LUN software write protected"},
	{0x27, 0x07, "no space left in the thin pool, write protected"},
	{0x27, ANY, "write protected"},
	{0x28, ANY, "not ready to ready change, medium may have changed"},
	{0x29, 0x00, "power on, reset, or bus device reset"},
	{0x29, 0x01, "power on"},
	{0x29, 0x02, "bus reset"},
	{0x29, 0x03, "bus device reset"},
	{0x29, 0x04, "device internal reset"},
	{0x29, 0x07, "I_T nexus lost"},
	{0x29, ANY, "reset or power on"},
	{0x2a, 0x01, "mode parameters changed"},
	{0x2a, 0x02, "log parameters changed"},
	{0x2a, 0x03, "reservations preempted"},
	{0x2a, 0x04, "reservations released"},
	{0x2a, 0x05, "registrations preempted"},
	{0x2a, 0x06, "asymmetric access state changed"},
	{0x2a, 0x09, "capacity data has changed"},
	{0x2a, ANY, "parameters changed"},
	{0x2c, 0x00, "command sequence error"},
	{0x2c, 0x09, "previous reservation conflict status"},
	{0x2f, ANY, "commands cleared by another initiator"},
	{0x31, ANY, "medium format corrupted"},
	{0x32, ANY, "no defect spare location available"},
	{0x38, 0x07, "thin provisioning soft threshold reached"},
	{0x39, 0x00, "saving parameters not supported"},
	{0x3a, ANY, "medium not present"},
	{0x3e, ANY, "LUN has not configured itself yet, or failed"},
	{0x3f, 0x01, "microcode has been changed"},
	{0x3f, 0x03, "inquiry data has changed"},
	{0x3f, 0x0e, "reported LUNs data has changed"},
	{0x3f, ANY, "target operating conditions have changed"},
	{0x44, 0x00, "internal target failure"},
	{0x44, ANY, "internal target failure"},
	{0x47, ANY, "SCSI parity or CRC error"},
	{0x48, 0x00, "initiator detected error message received"},
	{0x49, 0x00, "invalid message"},
	{0x4b, ANY, "data phase error"},
	{0x4e, 0x00, "overlapped commands attempted"},
	{0x53, ANY, "medium load or removal problem"},
	{0x55, ANY, "out of system resources"},
	{0x5d, ANY, "failure prediction threshold exceeded"},
	{0x5e, ANY, "low power condition"},
	{0x65, 0x00, "voltage fault"},
	{0x74, ANY, "security error"},
};

static const char *code_name(uint8_t asc, uint8_t ascq)
{
	const char *family = NULL;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (codes[i].asc != asc)
			continue;
		if (codes[i].ascq == ascq)
			return codes[i].name;
		if (codes[i].ascq == ANY)
			family = codes[i].name;
	}
	if (family)
		return family;
	return asc >= 0x80 ? "vendor specific code" : "code without a name";
}

static const char *status_name(uint8_t status)
{
	switch (status) {
	case STATUS_GOOD:
		return "GOOD";
	case STATUS_CHECK_CONDITION:
		return "CHECK CONDITION";
	case STATUS_CONDITION_MET:
		return "CONDITION MET";
	case STATUS_BUSY:
		return "BUSY";
	case STATUS_RESERVATION_CONFLICT:
		return "RESERVATION CONFLICT";
	case STATUS_TASK_SET_FULL:
		return "TASK SET FULL";
	case STATUS_ACA_ACTIVE:
		return "ACA ACTIVE";
	case STATUS_TASK_ABORTED:
		return "TASK ABORTED";
	}
	return "unknown SCSI status";
}

void sense_parse(const uint8_t *sense, size_t len, struct io_detail *d)
{
	bool fixed;

	d->sense_key = d->asc = d->ascq = 0;
	if (len < 4)
		return;
	switch (sense[0] & 0x7f) {
	case 0x70:
	case 0x71:
		fixed = true;
		break;
	case 0x72:
	case 0x73:
		fixed = false;
		break;
	default:
		return;
	}
	d->sense_key = sense[fixed ? 2 : 1] & 0x0f;
	if (!fixed || len >= 14) {
		d->asc = sense[fixed ? 12 : 2];
		d->ascq = sense[fixed ? 13 : 3];
	}
}

static int check_condition_result(const struct io_detail *d)
{
	switch (d->sense_key) {
	case KEY_RECOVERED_ERROR:
		return 0; /* the data is good, the target told how hard it was
			   */
	case KEY_NOT_READY:
	case KEY_UNIT_ATTENTION:
		return -EAGAIN;
	case KEY_MEDIUM_ERROR:
		return -ENODATA;
	case KEY_ILLEGAL_REQUEST:
		return d->asc == 0x25 ? -ENXIO : -EREMOTEIO;
	case KEY_DATA_PROTECT:
		return d->asc == 0x27 && d->ascq == 0x07 ? -ENOSPC : -EROFS;
	}
	return -EREMOTEIO;
}

int sense_result(const struct io_detail *d)
{
	switch (d->scsi_status) {
	case STATUS_GOOD:
	case STATUS_CONDITION_MET:
		return 0;
	case STATUS_BUSY:
	case STATUS_TASK_SET_FULL:
		return -EBUSY;
	case STATUS_CHECK_CONDITION:
		return check_condition_result(d);
	}
	return -EREMOTEIO;
}

char *sense_describe(const struct io_detail *d, char *buf, size_t size)
{
	if (d->scsi_status == STATUS_CHECK_CONDITION)
		snprintf(buf, size, "CHECK CONDITION, %s, %s (%x/%02x/%02x)",
			 key_names[d->sense_key & 0x0f],
			 code_name(d->asc, d->ascq), d->sense_key, d->asc,
			 d->ascq);
	else if (strcmp(status_name(d->scsi_status), "unknown SCSI status"))
		snprintf(buf, size, "%s", status_name(d->scsi_status));
	else
		snprintf(buf, size, "unknown SCSI status 0x%02x",
			 d->scsi_status);
	return buf;
}

char *transport_describe_detail(const struct io *io, char *buf, size_t size)
{
	const struct io_detail *d = &io->detail;

	if (io->result == -EBADMSG && d->residual_bytes > 0)
		snprintf(buf, size,
			 "GOOD, but %d of %u bytes were not transferred "
			 "(residual underflow)",
			 d->residual_bytes, io->length_bytes);
	else if (io->result == -EBADMSG && d->residual_bytes < 0)
		snprintf(buf, size,
			 "GOOD, but the command was for %lld bytes more than "
			 "the %u that were transferred (residual overflow)",
			 -(long long)d->residual_bytes, io->length_bytes);
	else if (d->scsi_status || !io->result)
		sense_describe(d, buf, size);
	else if (io->result == -ECANCELED)
		snprintf(buf, size, "not answered before the connection ended");
	else
		snprintf(buf, size, "%s", strerror(-io->result));
	return buf;
}

const char *sense_device_type(unsigned int type)
{
	static const char *const names[] = {
		[0x00] = "disk",
		[0x01] = "tape",
		[0x02] = "printer",
		[0x03] = "processor",
		[0x04] = "write-once disk",
		[0x05] = "CD or DVD",
		[0x06] = "scanner",
		[0x07] = "optical memory",
		[0x08] = "media changer",
		[0x09] = "communications device",
		[0x0c] = "storage array controller",
		[0x0d] = "enclosure services",
		[0x0e] = "simplified disk",
		[0x0f] = "optical card reader",
		[0x10] = "bridge controller",
		[0x11] = "object store",
		[0x12] = "automation device",
		[0x14] = "host-managed zoned disk",
		[0x1e] = "well-known LUN",
		[0x1f] = "unknown or no device",
	};

	if (type < sizeof(names) / sizeof(names[0]) && names[type])
		return names[type];
	return "reserved device type";
}
